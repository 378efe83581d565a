"""
A user base: which questions to ask
===================================

A shop or a film site has a table of users and what they liked. For a new user it is
empty. Which few items should the site ask about, so that the answers tell most about
all the others? And which columns of a customer table repeat each other?

It needs the extras ``pandas`` and ``plot``.
"""

# %%
# **Users and films.** 800 users rate 240 films from 1 to 5. The table is made: six
# tastes, and each film speaks to one or two of them; some films everybody likes, and
# these tell little.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from franet import Cover, FRANe
from franet.evaluation import evaluate
from franet.rankers import Variance

rng = np.random.default_rng(0)
n_users, n_films = 800, 240
genres = ["action", "comedy", "drama", "horror", "romance", "science"]
taste = rng.normal(size=(n_users, len(genres)))
appeal = rng.dirichlet(np.full(len(genres), 0.25), n_films)
appeal[:40] *= 0.15  # liked by all, whatever their taste
liked = np.repeat([4.3, 3.1], [40, n_films - 40])
noise = rng.normal(scale=0.6, size=(n_users, n_films))
ratings = np.clip(np.round(liked + 1.3 * taste @ appeal.T + noise), 1, 5)
names = [f"hit {i}" for i in range(40)]
names += [f"{genres[appeal[i].argmax()]} {i}" for i in range(40, n_films)]
films = pd.DataFrame(ratings, columns=names)
print(films.iloc[:4, 38:44])

# %%
# **Ten questions.** Each film is picked for what the answers to the earlier ones miss.
# All ratings are of one scale: with ``weights="variance"`` a film on which users differ
# counts more than one that all of them like.

ranker = Cover(10, weights="variance", n_ranked=16).fit(films)
for pick in ranker.order_[:10]:
    members = ranker.members_[pick]
    others = ", ".join(films.columns[members[:3]])
    print(f"{films.columns[pick]:<12} represents {len(members):>2}: {others}")

# %%
# **Is it better than the obvious?** A site would ask about the films that most people
# like. But their answers are all alike, and tell little. ``evaluate`` holds users out,
# takes their answers to the first questions, and predicts all their ratings from the
# five users who answered most alike. Any estimator with ``feature_importances_`` takes
# part.


class Popular(BaseEstimator):
    """Films by their mean rating."""

    def fit(self, X, y=None):
        """Keep the means."""
        self.feature_importances_ = X.mean(axis=0)
        return self


results = evaluate(
    films,
    rankers={
        "cover": Cover(weights="variance"),
        "popular": Popular(),
        "variance": Variance(),
    },
    n_features=[1, 2, 4, 6, 8, 10, 16],
    folds=5,
    measures=["rmae_shared"],
)
print(results.table(at=10, measure="rmae_shared"))

# %%
# The error is the mean absolute one of a film, in units of its standard deviation.
# Random films are grey, and a fair rival; questions about hits are worse than those.

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
results.plot_curves(measure="rmae_shared", ax=ax)

# %%
# **The customer table.** What is known of the users themselves is a mixture of numbers,
# text and yes or no. ``similarity="mixed"`` compares all of it on one scale from 0 to 1
# (:doc:`/mixed`).

city = rng.integers(8, size=n_users)
region = np.array(["north", "south", "west", "east"])[city // 2]
plan = rng.choice(["free", "basic", "family"], n_users, p=[0.5, 0.3, 0.2])
hours = rng.lognormal(2.0, 0.6, n_users)
users = pd.DataFrame(
    {
        "city": [f"city {number}" for number in city],
        "region": region,
        "plan": plan,
        "fee": pd.Series(plan).map({"free": 0.0, "basic": 8.0, "family": 14.0}),
        "profiles": np.where(plan == "family", rng.integers(2, 6, n_users), 1),
        "hours": hours,
        "films seen": np.round(hours / 1.8 + rng.normal(scale=1.0, size=n_users)),
        "newsletter": rng.random(n_users) < 0.4,
        "age": rng.integers(18, 80, n_users),
    }
)
customer = FRANe(similarity="mixed", tie_break="denser").fit(users)
partner, weight = customer.network_.redundant_with()
for j in customer.order_:
    close = partner[j] >= 0 and weight[j] >= 0.5
    note = f"repeats {users.columns[partner[j]]} ({weight[j]:.2f})" if close else ""
    print(f"{customer.ranking_[j]:>2}  {users.columns[j]:<11} {note}")
plt.show()
