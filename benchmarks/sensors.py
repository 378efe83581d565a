"""Choosing places for sensors on fields, and rebuilding all places from them.

``python benchmarks/sensors.py`` measures everything, prints it, and stores the tables
in ``results/sensors.md``. ``--parts fields noise`` measures some parts and leaves the
others there as they are. ``--picture docs/images/sensors.png`` only draws the map of
the guide.

- *fields*: the error at 5, 10 and 20 places of several rankers, beside PySensors,
  random places, and principal components that see every place.
- *bar*: ten places of the Pacific, in degrees and by two deviations.
- *distance*: what a smallest distance between places costs.
- *noise*: what an error of the sensors does to the rebuilt field.

Of each field the first 70 % of the rows, in time, are there to learn from, and the last
30 % are rebuilt. The error is the root of the mean squared error over the deviation:
that of the rebuilt rows about their own means. Rebuilt by ridge regression
(``RidgeReconstruction``, or ``reconstruct`` of Cover, which is the same), unless it
says otherwise.

Fields: ``climate_sst_pacific`` and ``sensors_traffic_la`` of the folder of
``field.py``; two of the package ``eofs`` (``pip install eofs``); and a heated plate
that is simulated here. PySensors is ``pip install python-sensors``. What is not there
is left out, with a line that says so.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import parts
from parts import Table

HERE = Path(__file__).resolve().parent
OUT = HERE / "results" / "sensors.md"
SIZES = (5, 10, 20)
DRAWS = 10
# The grid of the Pacific field: cells of two degrees, from 124° E and 29° S.
GRID = (30, 84)
Pick = Callable[[np.ndarray, int], list[int]]
Field = tuple[str, np.ndarray]


def heated_plate(heaters: int = 1, rows: int = 400, side: int = 20) -> np.ndarray:
    """Simulate a plate with cold edges that heaters warm, now and then."""
    draw = np.random.default_rng(0)
    T, found = np.zeros((side, side)), []
    at = tuple(draw.integers(3, side - 3, (heaters, 2)).T)
    power = np.zeros(heaters)
    for step in range(200 + 5 * rows):
        if step % 25 == 0:
            power = draw.uniform(0, 1, heaters) * (draw.random(heaters) < 0.7)
        P = np.pad(T, 1)
        around = P[2:, 1:-1] + P[:-2, 1:-1] + P[1:-1, 2:] + P[1:-1, :-2]
        T = T + 0.2 * (around - 4 * T)
        T[at] += power
        if step >= 200 and step % 5 == 0:
            found.append(T.ravel())
    return np.array(found)


def of_eofs(name: str, variable: str) -> np.ndarray | None:
    """Return a field that comes with the package eofs, without places on land."""
    from scipy.io import netcdf_file

    spec = find_spec("eofs")
    if spec is None:
        print(f"{name} is left out: pip install eofs")
        return None
    places = spec.submodule_search_locations
    assert places
    path = Path(places[0]) / "examples" / "example_data" / f"{name}.nc"
    with netcdf_file(path, mmap=False) as file:
        X = np.array(file.variables[variable].data, float)
    X = X.reshape(len(X), -1)
    return X[:, (np.isfinite(X) & (np.abs(X) < 1e10)).all(axis=0)]


def stored_field(given: Any, name: str) -> np.ndarray | None:
    """Return a field of the folder."""
    path = given.folder / f"{name}.npz"
    if not path.exists():
        print(f"{name} is left out: it is not in {given.folder}")
        return None
    with np.load(path, allow_pickle=False) as file:
        return np.asarray(file["X"], float)


def fields(given: Any) -> Iterator[Field]:
    """Yield the fields that are there."""
    yield from (
        (name, X)
        for name, X in (
            ("climate_sst_pacific", stored_field(given, "climate_sst_pacific")),
            ("sensors_traffic_la", stored_field(given, "sensors_traffic_la")),
            ("eofs sst_ndjfm_anom", of_eofs("sst_ndjfm_anom", "sst")),
            ("eofs hgt_djf", of_eofs("hgt_djf", "z")),
            ("heated plate, 6 heaters", heated_plate(6)),
        )
        if X is not None
    )


def parts_of(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first 70 % of the rows and the others; places that vary in both."""
    m = int(0.7 * len(X))
    vary = (np.ptp(X[:m], axis=0) > 0) & (np.ptp(X[m:], axis=0) > 0)
    return X[:m, vary], X[m:, vary]


def error(rebuilt: np.ndarray, B: np.ndarray) -> float:
    """Return the root of the mean squared error over the deviation."""
    return float(np.sqrt(((rebuilt - B) ** 2).mean() / B.var(axis=0).mean()))


def ridge(A: np.ndarray, picks: list[int]) -> Callable[[np.ndarray], np.ndarray]:
    """Return what rebuilds all places from some."""
    from franet.evaluation import RidgeReconstruction

    return RidgeReconstruction(picks).fit(A).predict


def ours(**given: Any) -> Pick:
    """Return how ColumnSubset picks in raw units."""

    def pick(A: np.ndarray, k: int) -> list[int]:
        from franet.rankers import ColumnSubset

        ranker = ColumnSubset(k, standardize=False, **given).fit(A)
        return ranker.order_[:k].tolist()

    return pick


def cover(**given: Any) -> Pick:
    """Return how Cover picks."""

    def pick(A: np.ndarray, k: int) -> list[int]:
        from franet import Cover

        return Cover(k, **given).fit(A).order_[:k].tolist()

    return pick


def standardized(A: np.ndarray, k: int) -> list[int]:
    """Return what ColumnSubset picks in standard units."""
    from franet.rankers import ColumnSubset

    return ColumnSubset(k).fit(A).order_[:k].tolist()


PICKS: dict[str, Pick] = {
    "Cover": cover(),
    "Cover, variance": cover(weights="variance"),
    "ColumnSubset": standardized,
    "raw": ours(),
    "raw, exchanges": ours(exchanges=1000),
    "raw, noise 0.1": ours(noise=0.1),
    "raw, both": ours(noise=0.1, exchanges=1000),
}
PYSENSORS = (
    "PySensors, ridge", "its predict, noise", "its predict", "its predict, defaults",
)  # fmt: skip
REFERENCES = ("random", "all places")


def pysensors(A: np.ndarray, B: np.ndarray, k: int) -> dict[str, float]:
    """Return the errors of PySensors: with ridge regression, and by itself.

    As many modes as sensors, of the centered table: more make it worse. By itself: with
    what the modes leave as noise; unregularized, as its `score` does; and with the
    defaults of `predict`, a prior and noise as large.
    """
    from pysensors.basis import SVD
    from pysensors.reconstruction import SSPOR

    mean = A.mean(axis=0)
    modes = min(k, len(A) - 1)
    model = SSPOR(basis=SVD(n_basis_modes=modes, random_state=0), n_sensors=k)
    model.fit(A - mean, quiet=True, seed=0)
    picks = [int(j) for j in model.get_selected_sensors()]
    seen, V = B[:, picks] - mean[picks], model.basis_matrix_
    left = np.sqrt((((A - mean) - (A - mean) @ V @ V.T) ** 2).mean())
    found = (
        ridge(A, picks)(B[:, picks]),
        model.predict(seen, noise=float(left)) + mean,
        model.predict(seen, method="unregularized") + mean,
        model.predict(seen) + mean,
    )
    values = [error(rebuilt, B) for rebuilt in found]
    return dict(zip(PYSENSORS, values, strict=True))


def references(A: np.ndarray, B: np.ndarray, k: int) -> dict[str, float]:
    """Return the errors of random places, and of components of all places."""
    from sklearn.decomposition import PCA

    draw, drawn = np.random.default_rng(0), []
    for _ in range(DRAWS):
        picks = draw.choice(A.shape[1], k, replace=False).tolist()
        drawn.append(error(ridge(A, picks)(B[:, picks]), B))
    pca = PCA(k, random_state=0).fit(A)
    rebuilt = pca.inverse_transform(pca.transform(B))
    return {"random": float(np.mean(drawn)), "all places": error(rebuilt, B)}


def compare(given: Any) -> Table:
    """Compare the rankers on each field."""
    there = find_spec("pysensors") is not None
    if not there:
        print("PySensors is left out: pip install python-sensors")
    names = [*PICKS, *(PYSENSORS if there else ()), *REFERENCES]
    rows, values = [], []
    for name, X in fields(given):
        A, B = parts_of(X)
        for k in SIZES:
            found = {}
            for label, pick in PICKS.items():
                picks = pick(A, k)
                found[label] = error(ridge(A, picks)(B[:, picks]), B)
            found |= pysensors(A, B, k) if there else {}
            found |= references(A, B, k)
            values.append([found[label] for label in names])
            size = f"{len(A)} + {len(B)} × {A.shape[1]}"
            rows.append([name, size, k, *(f"{v:.3f}" for v in values[-1])])
            print(*rows[-1], flush=True)
    sizes = [row[2] for row in rows]
    for k in (*SIZES, "all"):
        some = [v for v, size in zip(values, sizes, strict=True) if k in (size, "all")]
        rows.append(["mean", "", k, *(f"{v:.3f}" for v in np.mean(some, axis=0))])
        print(*rows[-1])
    return ["field", "rows × places", "k", *names], rows


def bar(given: Any) -> Table:
    """Rebuild the Pacific from ten places by `reconstruct`."""
    from franet import Cover

    X = stored_field(given, "climate_sst_pacific")
    rows = []
    A, B = parts_of(X) if X is not None else (np.empty((0, 0)),) * 2
    for label, options in {
        "Cover(10)": {},
        'Cover(10, weights="variance")': {"weights": "variance"},
    }.items():
        if not len(A):
            break
        ranker = Cover(10, **options).fit(A)
        rebuilt = ranker.reconstruct(ranker.transform(B))
        degrees = np.sqrt(((rebuilt - B) ** 2).mean())
        from_mean = np.sqrt(((B - A.mean(axis=0)) ** 2).mean())
        cells = degrees, error(rebuilt, B), degrees / from_mean
        rows.append([f"`{label}`", *(f"{v:.3f}" for v in cells)])
        print(*rows[-1])
    head = ["RMSE, °C", "over the deviation", "over that from the training mean"]
    return ["", *head], rows


def cells_of(given: Any) -> np.ndarray:
    """Return the row and the column of each place of the Pacific."""
    with np.load(given.folder / "climate_sst_pacific.npz", allow_pickle=False) as file:
        cells = np.array([int(name.removeprefix("cell")) for name in file["names"]])
    return np.column_stack(np.divmod(cells, GRID[1]))


def distance(given: Any) -> Table:
    """Ask for a smallest distance between ten places of the Pacific."""
    from scipy.spatial.distance import pdist

    from franet import groups_by_distance

    X = stored_field(given, "climate_sst_pacific")
    rows: list[list[Any]] = []
    if X is None:
        return [], rows
    places, (A, B) = 2 * cells_of(given), parts_of(X)
    for least in (0, 10, 20, 30):
        groups = groups_by_distance(places, least) if least else None
        row: list[Any] = [f"{least}°"]
        for pick in (cover(weights="variance", groups=groups), ours(groups=groups)):
            picks = pick(A, 10)
            found = error(ridge(A, picks)(B[:, picks]), B)
            row += [f"{pdist(places[picks]).min():.1f}°", f"{found:.3f}"]
        rows.append(row)
        print(*rows[-1], flush=True)
    head = ["closest, Cover", "error", "closest, ColumnSubset", "error"]
    return ["at least", *head], rows


def noise(given: Any) -> Table:
    """Measure five places with an error of 0, 1, 3 and 10 % of their deviation.

    The regression learns from rows without errors, and from rows with them.
    """
    levels = (0.0, 0.01, 0.03, 0.1)
    rows = []
    for field, X in (
        ("heated plate, 1 heater", heated_plate(1)),
        ("heated plate, 3 heaters", heated_plate(3)),
    ):
        A, B = parts_of(X)
        for label, pick in PICKS.items():
            picks = pick(A, 5)
            found = [disturbed(A, B, picks, level) for level in levels]
            aware = disturbed(A, B, picks, levels[-1], learn=True)
            cells = [f"{v:.3f}" for v in (*found, aware)]
            rows.append([field, label, *cells])
            print(*rows[-1], flush=True)
    head = [f"{level:.0%}" for level in levels]
    return ["field", "places", *head, f"{head[-1]}, learned with it"], rows


def disturbed(
    A: np.ndarray, B: np.ndarray, picks: list[int], level: float, learn: bool = False
) -> float:
    """Return the error with noisy sensors, the mean of some draws."""
    deviation, found = A.std(axis=0), []
    for seed in range(DRAWS):
        draw = np.random.default_rng(seed)
        known = A + learn * level * deviation * draw.normal(size=A.shape)
        wrong = level * deviation[picks] * draw.normal(size=(len(B), len(picks)))
        rebuilt = ridge(known, picks)(B[:, picks] + wrong)
        # A measured place is as wrong as its sensor, or as rebuilt: the same for all.
        found.append(error(rebuilt, B) ** 2)
    return float(np.sqrt(np.mean(found)))


def draw_picture(given: Any) -> None:
    """Draw where ten sensors go in the Pacific, and how far off each place is."""
    import matplotlib.pyplot as plt

    from franet import Cover

    X = stored_field(given, "climate_sst_pacific")
    if X is None:
        sys.exit(1)
    A, B = parts_of(X)
    rows, columns = cells_of(given).T
    ranker = Cover(10, weights="variance").fit(A)
    rebuilt = ranker.reconstruct(ranker.transform(B))
    off = np.sqrt(((rebuilt - B) ** 2).mean(axis=0))
    figure, axes = plt.subplots(2, 1, figsize=(8, 6.4), layout="constrained")
    for ax, title, values in (
        (axes[0], "deviation of sea surface temperature, °C", B.std(axis=0)),
        (axes[1], "error of the field rebuilt from ten places, °C", off),
    ):
        field = np.full(GRID, np.nan)
        field[rows, columns] = values
        edges = (123, 291, -30, 30)
        shown = ax.imshow(field, origin="lower", extent=edges, vmin=0, vmax=1.6)
        figure.colorbar(shown, ax=ax, shrink=0.9)
        ax.set(title=title, xlabel="longitude east", ylabel="latitude")
        ax.set_facecolor("#d9d9d9")
        for number, j in enumerate(ranker.order_[:10], 1):
            at = 124 + 2 * columns[j], -29 + 2 * rows[j]
            ax.plot(*at, "o", ms=13, mfc="white", mec="black")
            ax.annotate(str(number), at, ha="center", va="center", fontsize=8)
    figure.savefig(given.picture, dpi=110)


PARTS: dict[str, Callable[[Any], Table]] = {
    "fields": compare,
    "bar": bar,
    "distance": distance,
    "noise": noise,
}
NOTES = {
    "fields": "Root of the mean squared error of the last 30 % of the rows over their "
    "deviation; the first 70 % to learn from. `raw` is "
    "`ColumnSubset(standardize=False)`, with up to 1,000 exchanges, with `noise=0.1`, "
    "or with both. `random` is the mean of ten draws; `all places` are k principal "
    "components that see every place.",
    "bar": "Ten places of climate_sst_pacific, rebuilt by `reconstruct`.",
    "distance": "Ten places of climate_sst_pacific with `groups_by_distance`: the "
    "distance of the closest two, and the error.",
    "noise": "Five places, measured with an error of this share of their standard "
    "deviation (root mean square of ten draws). The regression knows rows without "
    "errors; in the last column rows with errors of the same size.",
}


def main() -> None:
    parser = parts.parser(__doc__, PARTS)
    parser.add_argument("--picture", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.picture:
        draw_picture(given)
        return
    parts.run(OUT, "Places for sensors", PARTS, NOTES, given)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
