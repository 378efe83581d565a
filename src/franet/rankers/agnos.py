"""AgnoS: features that an autoencoder needs to reconstruct the whole table."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions

from franet.engine.device import wanted
from franet.estimators._parameters import AGNOS, constraints
from franet.estimators._validation import dense
from franet.exceptions import DataError
from franet.rankers._agnos import initial, train
from franet.rankers._base import COUNT, NOT_NEGATIVE, POSITIVE, Ranker
from franet.rankers.intrinsic_dimension import intrinsic_dimension


class AgnoS(Ranker):
    """Rank features by what an autoencoder with a sparse input needs.

    The columns of the table are standardized, X (m × n). An autoencoder with one
    hidden layer of d units, H = tanh((X · a) W + b) and X̂ = H V + c, learns to give
    back its input while it pays for looking at it. ``"slack"`` (AgnoS-S) multiplies
    each input by a slack variable aᵢ, which starts at one, and minimises

        1/m Σₖ Σᵢ (x̂ₖᵢ − xₖᵢ)² + λ Σᵢ |aᵢ|   with Σᵢ Wᵢⱼ² = 1 for each hidden unit j;

    the score is |aᵢ|. ``"weights"`` (AgnoS-W) has no slack variables (a = 1, W free)
    and minimises

        1/m Σₖ Σᵢ (x̂ₖᵢ − xₖᵢ)² + λ Σᵢ ‖Wᵢ‖₂ ,

    a group lasso; the score is maxⱼ |Wᵢⱼ|. Wᵢ are the weights from input i to the
    hidden units. The squared error is summed over the features and averaged over the
    rows, so that λ weighs an input against the error of one feature.

    Parameters
    ----------
    {n_features_to_select}
    variant : {"slack", "weights"}, default="slack"
        Slack variables, the variant that others compare with, or a group lasso.
    n_hidden : int or "auto", default="auto"
        The number d of hidden units. ``"auto"`` takes the intrinsic dimension of the
        standardized table from two nearest neighbours, rounded, as the paper does:
        see `franet.rankers.intrinsic_dimension`. Where it cannot be estimated (fewer
        than four different rows, a grid) one less than the number of rows, at most
        ten.
    penalty : float, default=1.0
        The weight λ of the penalty; the paper's.
    learning_rate : float, default=0.01
        The step of Adam; the paper's.
    max_iter : int, default=2000
        The largest number of iterations. Each sees the whole table (full batch): the
        tables that the method is for have many columns and few rows, and no order of
        rows enters the result.
    tol : float, default=1e-2
        Training stops when the loss has not dropped by `tol` times the number of
        features (the loss of a network that looks at nothing) for `patience`
        iterations. The network with the smallest loss is kept.
    patience : int, default=100
        See `tol`. With steps of 0.01 a slack variable can move from one to zero in that
        time.
    backend : str, default="auto"
        ``"numpy"``, ``"torch"`` or a torch device such as ``"cuda:0"``, which need the
        extra ``franet[torch]``. ``"auto"`` takes torch if it is installed and sees a
        CUDA device, otherwise NumPy.
    random_state : int, RandomState instance or None, default=None
        Draws the initial weights (Glorot's uniform ones). An int gives the same ranking
        in every run.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The scores, |aᵢ| or maxⱼ |Wᵢⱼ|; larger is better. A constant column has 0.
    n_hidden_ : int
        The number of hidden units.
    loss_curve_ : ndarray of shape (n_iter_,)
        The loss at each iteration.
    n_iter_ : int
        The number of iterations.
    backend_ : {"numpy", "torch"}
        What it was trained with.
    {attributes}

    Notes
    -----
    What the score means: a feature with a large score carries information that the
    hidden layer needs and does not get elsewhere, one among copies may get all or
    nothing of their common score. Scores below about the learning rate are noise:
    Adam's steps do not end at zero, so that the order of the features that the
    network does not use is arbitrary. The result depends on the initial weights.

    The paper keeps encoder weights at unit norm; here the weights into each hidden unit
    are. With norms fixed for each input instead, aᵢ would be all that the encoder takes
    from input i; but one step of Adam then moves the sum over thousands of correlated
    columns at once, and the loss does not settle.

    Nothing holds the decoder back, which can make up for smaller scores: all of them go
    on shrinking, slowly, while the loss hardly falls. Early stopping is part of the
    method, and only the relation of scores within one fit means something.

    The best features serve the hidden units, not the components of the table by their
    size. Where one component has much of the variance and d is large, few of the best
    features follow it, and what counts all of them alike, as distances do, loses sight
    of it. Compare with `franet.rankers.RandomRanking`, or set a smaller `n_hidden`.

    Takes O(m n d) time for each iteration and O((m + d) n) memory; the neighbours for
    ``n_hidden="auto"`` take O(m² n). Sparse tables are made dense.

    References
    ----------
    G. Doquet, M. Sebag: Agnostic feature selection. ECML PKDD 2019, LNCS 11906,
    343–358.

    Examples
    --------
    >>> import numpy as np
    >>> from franet.rankers import AgnoS
    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.normal(size=(200, 1))
    >>> X = rng.normal(size=(200, 12))
    >>> X[:, 3:9] = hidden + 0.2 * rng.normal(size=(200, 6))  # six of one kind
    >>> ranker = AgnoS(3, n_hidden=1, random_state=0).fit(X)
    >>> bool(ranker.support_[3:9].sum() == 3)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **constraints(AGNOS),
        "n_hidden": [StrOptions({"auto"}), COUNT],
        "penalty": [NOT_NEGATIVE],
        "learning_rate": [POSITIVE],
        "patience": [COUNT],
        "backend": [str],
    }
    _backends: ClassVar[tuple[str, ...]] = ("numpy", "torch")

    variant: Literal["slack", "weights"] = "slack"
    n_hidden: int | Literal["auto"] = "auto"
    penalty: float = 1.0
    learning_rate: float = 1e-2
    max_iter: int = 2000
    tol: float = 1e-2
    patience: int = 100
    backend: str = "auto"
    random_state: Any = None

    def _score(self, X: Any) -> NDArray[np.float64]:
        self.backend_ = "torch" if wanted(self._place()) else "numpy"
        table = dense(X)
        varies = table.max(axis=0) > table.min(axis=0)
        scores = np.zeros(table.shape[1])
        if not varies.any():
            self.n_hidden_, self.n_iter_, self.loss_curve_ = 0, 0, np.empty(0)
            self._collapsed = "All columns are constant: there is nothing to rank."
            return scores
        Z = standardize(table[:, varies])
        auto = self.n_hidden == "auto"
        self.n_hidden_ = hidden_units(Z) if auto else int(self.n_hidden)
        random = check_random_state(self.random_state)
        start = initial(Z.shape[1], self.n_hidden_, self.variant, random, Z.dtype)
        place = self._place() if self.backend_ == "torch" else None
        network, training = train(Z, start, self, place)
        self.loss_curve_ = np.array(training.losses)
        self.n_iter_ = len(training.losses)
        if training.dropping():
            warnings.warn(
                f"AgnoS stopped after max_iter={self.max_iter} iterations while the "
                "loss still fell fast. Raise max_iter.",
                ConvergenceWarning,
                stacklevel=5,
            )
        if self.variant == "slack":
            scores[varies] = np.abs(network.slack)
        else:
            scores[varies] = np.abs(network.encoder).max(axis=1)
        return scores


def standardize(X: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return columns of mean 0 and variance 1; none of them may be constant."""
    Z = X.astype(np.float64)
    # Squares of very large or very small numbers leave the range.
    Z -= Z.mean(axis=0)
    Z /= np.abs(Z).max(axis=0)
    Z -= Z.mean(axis=0)
    Z /= np.sqrt(np.einsum("ij,ij->j", Z, Z) / len(Z))
    return np.ascontiguousarray(Z, dtype=X.dtype)


def hidden_units(Z: NDArray[np.floating]) -> int:
    """Return the intrinsic dimension as a count, or a bound where there is none."""
    try:
        return max(1, round(intrinsic_dimension(Z)))
    except DataError:
        return max(1, min(10, len(Z) - 1))
