"""
How it works: a network that grows
==================================

FRANe joins columns that resemble each other, from the most similar pair down to the
least, and asks at 100 thresholds which columns are central. One threshold wins. These
are pictures of what happens on the way; :doc:`/how-it-works` has the definitions.

It needs the extra ``plot``.
"""

# %%
# 30 measurements of 569 tumours. ``store_candidates=True`` solves all networks; without
# it those that provably cannot win are left out.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from franet import Cover, FRANe
from franet.network import layout
from franet.plotting import plot_quality

data = load_breast_cancer()
X, names = data.data, data.feature_names
ranker = FRANe(store_candidates=True).fit(X)
print(f"threshold {ranker.winner_ + 1} of 100 wins: w ≥ {ranker.threshold_:.3f}")

# %%
# **The networks.** Each is drawn at the same places, so that only the edges change. A
# weight is ``1 + r``: at the first threshold only the strongest pairs are joined, at
# the last all are. The size and the color of a node are its score.

winner = ranker.winner_
steps = [0, winner // 3, 2 * winner // 3, winner, (winner + 99) // 2, 99]
places = layout(ranker.network_, ranker.network_.communities().labels)
similarity = 1 + np.corrcoef(X.T)


def draw(ax, step):
    """Draw the network at one of the thresholds."""
    threshold, scores = ranker.thresholds_[step], ranker.all_scores_[step]
    i, j = np.nonzero(np.triu(similarity >= threshold - 1e-12, k=1))
    for a, b in zip(places[i], places[j], strict=True):
        ax.plot(*np.transpose([a, b]), color="#8fa3b8", lw=0.6, alpha=0.6, zorder=1)
    ax.scatter(*places.T, s=2500 * scores**1.2, c=scores, cmap="Blues", vmin=-0.02)
    ax.collections[-1].set(edgecolor="#145388", zorder=2)
    ax.set_title(f"r ≥ {threshold - 1:.2f}, {len(i)} edges", fontsize=10)
    ax.set_aspect("equal")
    ax.margins(0.1)
    ax.set_axis_off()


fig, axes = plt.subplots(2, 3, figsize=(9, 6.4), layout="constrained")
for ax, step in zip(axes.flat, steps, strict=True):
    draw(ax, step)
axes.flat[3].title.set(color="#c2410c", fontweight="bold")

# %%
# **The choice.** At each threshold PageRank gives every column a score. In the sparse
# networks most columns have no edge, and share the smallest score; in the dense ones
# all columns are joined with all others, and scores are nearly equal. In between they
# differ most, and that is what RQH measures: the second largest score over the second
# smallest. The network in the lower left above is where it is largest.

fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
plot_quality(ranker, ax=ax)

# %%
# **The scores as the network grows.** Each line is a column of the table. Lines come
# and go with the threshold; the ranking is read off at the winner.

fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.plot(ranker.thresholds_ - 1, ranker.all_scores_, color="#8fa3b8", lw=0.8)
best = ranker.order_[:5]
ax.plot(ranker.thresholds_ - 1, ranker.all_scores_[:, best], lw=2, label=names[best])
ax.axvline(ranker.threshold_ - 1, color="#c2410c", lw=1)
ax.invert_xaxis()
ax.set(xlabel="least correlation of an edge", ylabel="score")
ax.legend(fontsize=8)

# %%
# **Cover**, the other method, has no thresholds. It picks one column after another, and
# each column is joined with the pick that represents it. This is how the picks divide
# the table after one, two, four and eight of them.

fig, axes = plt.subplots(1, 4, figsize=(10, 3), layout="constrained")
for ax, k in zip(axes, (1, 2, 4, 8), strict=True):
    cover = Cover(k).fit(X)
    for j, pick in enumerate(cover.representative_):
        r = abs(cover.representative_corr_[j])
        ax.plot(*places[[j, pick]].T, color="#0072b2", lw=2 * r**2, alpha=0.6, zorder=1)
    picked = np.isin(np.arange(len(names)), cover.order_[:k])
    ax.scatter(
        *places.T, s=np.where(picked, 70, 14), c=np.where(picked, "#c2410c", "#8fa3b8")
    )
    ax.set_title(f"{k} picked, {cover.explained_[k - 1]:.0%} explained", fontsize=9)
    ax.set_aspect("equal")
    ax.margins(0.1)
    ax.set_axis_off()
plt.show()
