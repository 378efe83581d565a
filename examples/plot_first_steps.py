"""
First steps with the paper's method
===================================

Rank the columns of a table, and look at the network behind it. The picture at the end
needs the extras ``network``, ``pandas`` and ``plot``.
"""

# %%
# A table: 569 tumours in rows, 30 measurements in columns. The diagnoses are left
# out: FRANe uses no labels.

import numpy as np
from sklearn.datasets import load_breast_cancer

from franet import FRANe
from franet.plotting import plot_network

data = load_breast_cancer()
X, names = data.data, data.feature_names

# %%
# Fit, and list the best columns. A score is the PageRank of a column in the network
# of similar columns; 1 is the best rank.

ranker = FRANe(n_features_to_select=6).fit(X)
best = ranker.order_
for j in best[:6]:
    print(f"{ranker.ranking_[j]:>2}  {ranker.scores_[j]:.4f}  {names[j]}")

# %%
# Why these? One of 100 thresholds won: the one whose scores spread most (RQH).

network = ranker.network_
print(
    f"\nColumns are joined from a similarity of {ranker.threshold_:.3f} on, that is a "
    f"correlation of {ranker.threshold_ - 1:.3f}: {network.n_edges} edges, "
    f"{ranker.n_isolated_} columns without one, "
    f"RQH {ranker.quality_[ranker.winner_]:.2f}."
)

# %%
# The best columns sit in one hub and repeat each other. Each has a better one that it
# resembles most.

partner, weight = network.redundant_with()
print("\nWhat repeats what:")
for j in best[1:6]:
    print(f"    {names[j]} ~ {names[partner[j]]} (r = {weight[j] - 1:.2f})")

# %%
# The neighbors of the best column, from the sparse adjacency matrix.

row = network.adjacency[[best[0]]].tocoo()
order = np.argsort(-row.data)[:3]
print(f"\nClosest to {names[best[0]]}:")
for k in order:
    print(f"    {names[row.coords[1][k]]} (r = {row.data[k] - 1:.2f})")

# %%
# Keep the best columns. Their order in the table stays.

print(f"\n{X.shape} -> {ranker.transform(X).shape}")

# %%
# Columns that move against each other carry the same information. With
# ``similarity="abs-correlation"`` they are joined as well.

other = FRANe(n_features_to_select=6, similarity="abs-correlation").fit(X)
both = ranker.support_ & other.support_
print(f"Of 6 columns, {both.sum()} are also chosen by absolute correlation.")

# %%
# The network as a picture. A data frame gives it the names of the columns.

frame = load_breast_cancer(as_frame=True).data
plot_network(FRANe().fit(frame), labels=30)
