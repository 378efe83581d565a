"""
Pixels and sensors: where to measure
====================================

An image is a table: a row for each picture, a column for each pixel. So is a field of
sensors. Neighboring pixels carry nearly the same, and some carry nothing at all. Which
16 of 64 are worth measuring, and what is lost with the others?

It needs the extra ``plot``.
"""

# %%
# 1,797 digits that people wrote, 8 × 8 pixels each; they come with scikit-learn. All
# pixels have the same unit, the brightness from 0 to 16. A third of the pictures is
# kept aside.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsRegressor

from franet import Cover, FRANe
from franet.rankers import RandomRanking, Variance

side, n_picked = 8, 16
digits = load_digits().data
train, test = train_test_split(digits, test_size=1 / 3, random_state=0)
print(f"{train.shape[0]} pictures to choose from, {train.shape[1]} pixels each")

# %%
# Three ways to choose 16 pixels: each for what earlier picks miss; the most central
# ones, as in the paper on FRANe; those that vary most.
#
# Columns of one unit are what ``weights="variance"`` is for: a pixel that varies more
# counts more. The picked pixels will be used as they are, so that pictures are compared
# in them as they are, too: ``scale=None``.

options = {"weights": "variance", "scale": None, "n_ranked": n_picked}
rankers = {
    "cover": Cover(n_picked, **options),
    "FRANe of the paper": FRANe(n_picked),
    "variance": Variance(n_picked),
}
for ranker in rankers.values():
    ranker.fit(train)

# %%
# This is where they lie, on the mean of all pictures. A number is the rank. The pixels
# that vary most lie side by side; those of ``Cover`` leave out what their neighbors
# predict.

fig, axes = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained")
for ax, (name, ranker) in zip(axes, rankers.items(), strict=True):
    ax.imshow(train.mean(axis=0).reshape(side, side), cmap="Greys", vmax=24)
    for j in np.flatnonzero(ranker.support_):
        y, x = divmod(j, side)
        ax.add_patch(
            plt.Rectangle((x - 0.5, y - 0.5), 1, 1, color="#0072b2", alpha=0.8)
        )
        rank = ranker.ranking_[j]
        ax.text(x, y, rank, ha="center", va="center", color="white", fontsize=9)
    ax.set(title=name, xticks=[], yticks=[])

# %%
# Every pixel has a representative among the picks. Areas of one color are the pixels
# that one pick represents; most of them lie around it, though the ranker does not know
# which pixels are neighbors. Pixels that never change, in the corners, have none.

cover = rankers["cover"]
place = np.full(digits.shape[1], np.nan)
for number, pick in enumerate(cover.order_[:n_picked]):
    place[cover.representative_ == pick] = number

fig, ax = plt.subplots(figsize=(4, 4), layout="constrained")
ax.imshow(place.reshape(side, side), cmap="tab20")
for number, pick in enumerate(cover.order_[:n_picked]):
    y, x = divmod(pick, side)
    ax.text(x, y, number + 1, ha="center", va="center", fontweight="bold")
ax.set(title="Which pick represents which pixel", xticks=[], yticks=[])

# %%
# Is it enough? Pictures that the ranker has not seen are rebuilt from their 16 pixels:
# the mean of the five pictures whose 16 pixels are nearest. The error is the mean
# absolute one, in the units of brightness.


def rebuilt(ranker):
    """Return the test pictures as the picked pixels tell them."""
    neighbors = KNeighborsRegressor(5).fit(ranker.transform(train), train)
    return neighbors.predict(ranker.transform(test))


for name, ranker in rankers.items():
    print(f"{name:<18}  {np.abs(rebuilt(ranker) - test).mean():.3f}")
draws = [RandomRanking(n_picked, random_state=seed).fit(train) for seed in range(10)]
errors = [np.abs(rebuilt(ranker) - test).mean() for ranker in draws]
print(f"random, ten draws   {min(errors):.3f} to {max(errors):.3f}")

# %%
# Above the pictures, in the middle what is measured of them, below what it tells.

seen = np.where(cover.support_, test, np.nan)
fig, axes = plt.subplots(3, 8, figsize=(9, 3.6), layout="constrained")
for row, pictures in zip(axes, (test, seen, rebuilt(cover)), strict=True):
    for ax, picture in zip(row, pictures, strict=False):
        ax.imshow(picture.reshape(side, side), cmap="Greys", vmin=0, vmax=16)
        ax.set(xticks=[], yticks=[])
        ax.set_facecolor("#dbe7f0")

# %%
# Where a place cannot hold a sensor, ``exclude`` leaves it out, and ``include`` keeps
# the sensors that are there already. Here the left half is closed: the picks tell about
# it from the right half.

left = [j for j in range(digits.shape[1]) if j % side < side // 2]
half = Cover(n_picked, exclude=left, **options).fit(train)
print(f"right half only: error {np.abs(rebuilt(half) - test).mean():.3f}")
plt.show()
