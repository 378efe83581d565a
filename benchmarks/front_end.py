"""Fewer columns before a model: what is lost and gained, beside other front ends.

``python benchmarks/front_end.py`` measures everything, prints it, and stores the tables
in ``results/front_end.md``. ``--parts few`` measures a part and leaves others there.

- *search*: a pipeline of scaling, a front end and a model, judged on five outer folds:
  with a fixed number of columns, and with one that a search inside the training part
  finds (of ``DropCorrelated``, the cutoff). Outer folds take no part in any choice.
- *few*: a fixed number of columns, five-fold: what a target is worth to the choice.

The model is logistic regression, or ridge regression for targets that are numbers.
Tables: those that come with scikit-learn; spectra of coffee of ``chemotools`` (``pip
install chemotools``); and spectra of the folder of ``field.py``. ``fastcan``
takes part where it is installed. What is not there is left out, with a line that says
so.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import parts
from parts import Table
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import LabelBinarizer

HERE = Path(__file__).resolve().parent
OUT = HERE / "results" / "front_end.md"
SIZES = (4, 8, 16, 32)
CUTOFFS = (0.5, 0.7, 0.9, 0.95)
FEW = 5
DRAWS = 10
# Columns from which on forward selection takes many minutes.
SLOW = 200


class Labelled(NamedTuple):
    """A table with a target: numbers, or classes."""

    name: str
    X: np.ndarray
    y: np.ndarray

    @property
    def is_numeric(self) -> bool:
        """Whether the target is a number."""
        return self.y.dtype.kind == "f"


class WithTarget(TransformerMixin, BaseEstimator):
    """FastCan, which knows the target; classes as columns of zeros and ones."""

    def __init__(self, k: int = 1) -> None:
        self.k = k

    def fit(self, X: np.ndarray, y: np.ndarray) -> WithTarget:
        """Choose columns."""
        from fastcan import FastCan

        if y.dtype.kind != "f":
            y = LabelBinarizer().fit_transform(y).astype(float)
        self.chosen_ = FastCan(self.k, verbose=0).fit(X, y).indices_
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return the chosen columns."""
        return X[:, self.chosen_]


def coffee() -> Labelled | None:
    """Return the spectra of coffee of chemotools."""
    spec = find_spec("chemotools")
    if spec is None:
        print("coffee is left out: pip install chemotools")
        return None
    places = spec.submodule_search_locations
    assert places
    folder = Path(places[0]) / "datasets" / "data"
    X = np.loadtxt(folder / "coffee_spectra.csv", delimiter=",", skiprows=1)
    lines = (folder / "coffee_labels.csv").read_text().split()
    return Labelled("coffee, infrared", X, np.array(lines[-len(X) :]))


def stored(given: Any, name: str, title: str) -> Labelled | None:
    """Return a table of the folder."""
    path = given.folder / f"{name}.npz"
    if not path.exists():
        print(f"{name} is left out: it is not in {given.folder}")
        return None
    with np.load(path, allow_pickle=False) as file:
        X, y = np.asarray(file["X"], float), file["y"]
    known = y != -1 if name == "nir_soil" else np.ones(len(y), bool)
    return Labelled(title, X[known], y[known])


def tables(given: Any, spectra: bool = False) -> Iterator[Labelled]:
    """Yield the tables that are there; or spectra with a target of numbers."""
    from sklearn.datasets import load_breast_cancer, load_digits

    found: list[Labelled | None] = []
    if not spectra:
        found += [
            Labelled("digits, 8 × 8 pixels", *load_digits(return_X_y=True)),
            Labelled("breast_cancer", *load_breast_cancer(return_X_y=True)),
            coffee(),
        ]
    found += [
        stored(given, "nir_tecator", "nir_tecator, fat"),
        stored(given, "nir_gasoline", "nir_gasoline, octane"),
    ]
    if spectra:
        found.append(stored(given, "nir_soil", "nir_soil, carbon"))
    yield from (each for each in found if each is not None)


def front_ends(data: Labelled) -> dict[str, tuple[Any, dict[str, Any]]]:
    """Return the front ends, and over what each is searched."""
    from sklearn.decomposition import PCA
    from sklearn.feature_selection import SelectKBest, f_classif, f_regression

    from franet import Cover, DropCorrelated
    from franet.rankers import ColumnSubset, RandomRanking

    least = 0.8 * 2 / 3 * min(len(data.X), 1500)  # rows of an inner fold
    sizes = [k for k in SIZES if k < min(data.X.shape[1], least)]
    score = f_regression if data.is_numeric else f_classif
    ours = {"n_features_to_select": sizes}
    found: dict[str, tuple[Any, dict[str, Any]]] = {
        "all columns": ("passthrough", {}),
        "Cover": (Cover(), ours),
        "ColumnSubset": (ColumnSubset(), ours),
        "DropCorrelated": (DropCorrelated(), {"cutoff": list(CUTOFFS)}),
        "random": (RandomRanking(random_state=0), ours),
        "PCA": (PCA(random_state=0), {"n_components": sizes}),
        "SelectKBest, target": (SelectKBest(score), {"k": sizes}),
    }
    if find_spec("fastcan") is not None:
        found["fastcan, target"] = (WithTarget(), {"k": sizes})
    return found


def pipeline(data: Labelled, step: Any) -> Any:
    """Return a model behind a front end."""
    from sklearn.linear_model import LogisticRegression, RidgeCV
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    penalties = np.logspace(-8, 4, 25)
    model = RidgeCV(penalties) if data.is_numeric else LogisticRegression(max_iter=2000)
    # Scaled before, for components and fastcan, and after, for components.
    steps = {"scale": StandardScaler(), "few": step, "again": StandardScaler()}
    return Pipeline([*steps.items(), ("model", model)])


def folds(data: Labelled, n: int) -> Any:
    """Return seeded folds."""
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = KFold if data.is_numeric else StratifiedKFold
    return kind(n, shuffle=True, random_state=0)


def search(given: Any) -> Table:
    """Compare front ends at each number of columns, and at one that is searched for."""
    if find_spec("fastcan") is None:
        print("fastcan is left out: pip install fastcan")
    rows = []
    for data in tables(given):
        for label, (step, grid) in front_ends(data).items():
            found = judged(data, step, grid)
            measure = "R²" if data.is_numeric else "accuracy"
            shape = f"{data.X.shape[0]:,} × {data.X.shape[1]:,}"
            rows.append([data.name, shape, measure, label, *found])
            print(*rows[-1], flush=True)
    sizes = [f"k = {k}" for k in SIZES]
    head = ["table", "rows × columns", "measure", "front end", *sizes]
    return [*head, "searched, ± sd", "columns, median"], rows


def judged(data: Labelled, step: Any, grid: dict[str, Any]) -> list[str]:
    """Return the scores on outer folds, and how many columns a search takes."""
    from sklearn.model_selection import GridSearchCV

    fixed: dict[int, list[float]] = {k: [] for k in SIZES}
    scores, counts = [], []
    over = {f"few__{key}": values for key, values in grid.items()}
    for fold, (train, test) in enumerate(folds(data, 5).split(data.X, data.y)):
        known, new = (data.X[train], data.y[train]), (data.X[test], data.y[test])
        if "random_state" in getattr(step, "get_params", dict)():
            step.set_params(random_state=fold)
        model = GridSearchCV(pipeline(data, step), over, cv=folds(data, 3)).fit(*known)
        scores.append(model.score(*new))
        counts.append(model.best_estimator_["model"].n_features_in_)
        for key, values in over.items():
            for k in set(values) & {*SIZES}:
                single = pipeline(data, step).set_params(**{key: k})
                fixed[k].append(single.fit(*known).score(*new))
    cells = [f"{np.mean(each):.3f}" if each else "" for each in fixed.values()]
    found = f"{np.mean(scores):.3f} ± {np.std(scores):.3f}"
    return [*cells, found, f"{np.median(counts):.0f}"]


def few(given: Any) -> Table:
    """Predict a target from five wavelengths, and from ten."""
    from sklearn.feature_selection import SequentialFeatureSelector
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import cross_val_score

    from franet.rankers import ColumnSubset

    rows = []
    for data in tables(given, spectra=True):
        for k in (FEW, 2 * FEW):
            row: list[Any] = [data.name, k]
            made = {name: step for name, (step, _) in front_ends(data).items()}
            del made["DropCorrelated"]
            for name, step in made.items():
                if name != "all columns":
                    known = step.get_params(deep=False)
                    options = ("n_features_to_select", "n_components", "k")
                    step.set_params(**{each: k for each in options if each in known})
            made["exchanges"] = ColumnSubset(k, exchanges=1000)
            made["forward selection, target"] = SequentialFeatureSelector(
                Ridge(1e-3), n_features_to_select=k, cv=3
            )
            for name, step in made.items():
                if name.startswith("forward") and data.X.shape[1] > SLOW:
                    row.append("")
                    continue
                scores = []
                for seed in range(DRAWS if name == "random" else 1):
                    if name == "random":
                        step.set_params(random_state=seed)
                    model, cv = pipeline(data, step), folds(data, 5)
                    scores.append(cross_val_score(model, data.X, data.y, cv=cv))
                row.append(f"{np.mean(scores):.3f}")
            rows.append(row)
            print(*rows[-1], flush=True)
    names = ["ColumnSubset, exchanges" if x == "exchanges" else x for x in made]
    return ["spectra", "k", *names], rows


PARTS = {"search": search, "few": few}
NOTES = {
    "search": "Means of five outer folds, with k columns, and with a number that three "
    "inner folds choose among these (of `DropCorrelated` a cutoff among "
    f"{', '.join(map(str, CUTOFFS))}). Front ends marked *target* see the target of "
    "the training part, the others do not; `random` is drawn for each fold. `PCA` "
    "needs all columns for its components, so that k is not a number of columns there.",
    "few": "Five-fold R² of ridge regression on k columns, chosen in each fold; "
    f"`random` is the mean of {DRAWS} draws. Forward selection takes long for more "
    f"than {SLOW} columns, and is left out there.",
}


def main() -> None:
    given = parts.parser(__doc__, PARTS).parse_args()
    warnings.simplefilter("ignore")
    parts.run(OUT, "Fewer columns before a model", PARTS, NOTES, given)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
