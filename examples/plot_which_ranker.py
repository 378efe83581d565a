"""
Which ranker for my table?
==========================

Rankers that are best on average need not be best on your table. :func:`.evaluate` holds
examples out, rebuilds them from the first columns of each ranking, and compares it with
random columns. :doc:`/which-ranker` has the curves of 19 data sets.

It needs the extra ``plot``.
"""

# %%
# The table: 569 tumours, 30 measurements. It comes with scikit-learn; the diagnoses are
# left out. The units differ, and the columns are scaled: the error below is one of
# nearest neighbors, which depends on units.

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from franet import Cover, FRANe
from franet.evaluation import evaluate
from franet.rankers import FacilityLocation, LaplacianScore

X = load_breast_cancer(as_frame=True).data
X /= X.std()
rankers = {
    "cover": Cover(),
    "paper": FRANe(),
    "facility-location": FacilityLocation(),
    "laplacian": LaplacianScore(),
}

# %%
# Random columns and ``ColumnSubset`` are judged as well. Each ranking sees the training
# part of a fold only. ``rmae_shared`` is the error of five nearest neighbors: small is
# good.

results = evaluate(
    X,
    rankers=rankers,
    n_features=[1, 2, 4, 8, 16, 30],
    folds=5,
    measures=["rmae_shared", "r2"],
)
print(results.table(at=4, measure="rmae_shared"))

# %%
# The verdict says whether a ranking is better than random columns, by a test that
# allows for folds that share examples. With few examples it often cannot tell.
#
# The curves, for neighbors and for linear regression (where large is good):

fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, measure in zip(axes, ("rmae_shared", "r2"), strict=True):
    results.plot_curves(measure=measure, ax=ax)
plt.show()

# %%
# How many columns are enough? The smallest number whose error is at most 0.05 above the
# best one, with its interval over the folds.

print(results.recommend("cover", measure="rmae_shared", tolerance=0.05))
