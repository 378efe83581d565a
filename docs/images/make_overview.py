"""Draw docs/images/overview.svg: the network behind a ranking of real data.

Run it from the repository: ``.venv/bin/python docs/images/make_overview.py``. The
picture is written as text, so that it needs nothing but NumPy and franet.
"""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import load_breast_cancer

from franet import FRANe

WIDTH, HEIGHT = 1200, 660
INK, GREY, PALE, LINE = "#1f2933", "#66727f", "#dfe4ea", "#8fa3b8"
WINNER = "#c2410c"
# From pale to dark: the colour of a node follows its score, as its size does.
RAMP = np.array([[214, 228, 240], [107, 160, 201], [20, 83, 136]], float)
N_LABELLED = 6


def spring_layout(weights: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Pull connected nodes together and push all nodes apart."""
    place = start / np.abs(start).max()
    n = len(place)
    ideal = 2.4 / np.sqrt(n)
    # Counted by the better connected end, so that hubs do not collapse.
    degree = (weights > 0).sum(axis=0)
    pull = 4.0 * (weights > 0) / np.maximum.outer(degree, degree)
    for heat in np.linspace(0.12, 0.001, 900):
        apart = place[:, None] - place[None]
        distance = np.maximum(np.hypot(*apart.transpose(2, 0, 1)), 1e-3)
        push = ideal**2 / distance**2
        force = (apart * (push - pull * distance / ideal)[..., None]).sum(axis=1)
        # The picture is wider than high: a weak pull flattens and centres it.
        force -= place * [0.4, 0.8]
        length = np.maximum(np.hypot(*force.T), 1e-9)[:, None]
        place = place + force / length * np.minimum(length, heat)
    return place


def start_of(R: np.ndarray) -> np.ndarray:
    """Return classical scaling of the correlations, with signs that are fixed."""
    D = 2.0 * (1.0 - R)
    centre = np.eye(len(D)) - 1.0 / len(D)
    values, vectors = np.linalg.eigh(-0.5 * centre @ D @ centre)
    place = vectors[:, -1:-3:-1] * np.sqrt(values[-1:-3:-1])
    top = np.abs(place).argmax(axis=0)
    return place * np.sign(place[top, [0, 1]])


def fit_into(place: np.ndarray, box: tuple[float, float, float, float]) -> np.ndarray:
    """Stretch the places to a box (left, top, right, bottom)."""
    low, high = place.min(axis=0), place.max(axis=0)
    left, top, right, bottom = box
    return [left, top] + (place - low) / (high - low) * [right - left, bottom - top]


def spread_out(place: np.ndarray, radius: np.ndarray, gap: float) -> np.ndarray:
    """Move nodes apart until there is a gap between any two of them."""
    place = place.copy()
    least = radius[:, None] + radius[None] + gap
    for _ in range(400):
        apart = place[:, None] - place[None]
        distance = np.maximum(np.hypot(*apart.transpose(2, 0, 1)), 1e-3)
        short = np.maximum(least - distance, 0.0)
        np.fill_diagonal(short, 0.0)
        place += 0.2 * (apart * (short / distance)[..., None]).sum(axis=1)
    return place


def text(x, y, words, size=14, fill=INK, anchor="start", weight=400, halo=False):
    """Return a line of text."""
    extra = ' class="halo"' if halo else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{fill}" '
        f'text-anchor="{anchor}" font-weight="{weight}"{extra}>{escape(words)}</text>'
    )


def line(x1, y1, x2, y2, stroke, width=1.0, opacity=1.0, dash=""):
    """Return a straight line."""
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        f'stroke="{stroke}" stroke-width="{width:.2f}" stroke-opacity="{opacity:.2f}"'
        f"{dashed}/>"
    )


def circle(x, y, r, fill, stroke="#ffffff", width=1.5):
    """Return a disc."""
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}" fill="{fill}" '
        f'stroke="{stroke}" stroke-width="{width}"/>'
    )


def colour(share: float) -> str:
    """Return the colour of a share between 0 and 1."""
    at = share * (len(RAMP) - 1)
    rgb = [np.interp(at, range(len(RAMP)), channel) for channel in RAMP.T]
    return "#" + "".join(f"{round(value):02x}" for value in rgb)


class Labels:
    """Puts each label where it covers least."""

    def __init__(self, place: np.ndarray, radius: np.ndarray, box) -> None:
        self.box = box
        self.last_row = place[:, 1].max()
        self.taken = [
            (x - r, y - r, x + r, y + r)
            for (x, y), r in zip(place, radius, strict=True)
        ]

    def put(self, x, y, r, words, size, fill, weight):
        """Return the label of a node."""
        wide = 0.66 if weight > 400 else 0.6
        width, height = wide * size * len(words), 1.1 * size
        gap = r + 5
        best = None
        # Nodes of the last row are named below, where no edge runs.
        for turn in [6] if y == self.last_row else range(24):
            angle = 2 * np.pi * turn / 24
            side, up = np.cos(angle), np.sin(angle)
            anchor = "middle" if abs(side) < 0.4 else "start" if side > 0 else "end"
            at_x, at_y = x + gap * side, y + gap * up + height * (0.35 + 0.45 * up)
            left = at_x - {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * width
            box = (left, at_y - 0.8 * height, left + width, at_y + 0.2 * height)
            cost = self._cost(box) + 2.0 * abs(up) + (1.0 if side < 0 else 0.0)
            if best is None or cost < best[0] - 1e-9:
                best = cost, box, at_x, at_y, anchor
        _, box, at_x, at_y, anchor = best
        self.taken.append(box)
        return text(at_x, at_y, words, size, fill, anchor, weight, halo=True)

    def _cost(self, box) -> float:
        cost = 0.0
        for other in self.taken:
            wide = min(box[2], other[2]) - max(box[0], other[0])
            high = min(box[3], other[3]) - max(box[1], other[1])
            if wide > 0 and high > 0:
                cost += wide * high
        left, top, right, bottom = self.box
        outside = max(left - box[0], 0) + max(box[2] - right, 0)
        outside += max(top - box[1], 0) + max(box[3] - bottom, 0)
        return cost + 100.0 * outside


def draw_network(ranker: FRANe, place: np.ndarray, box) -> list[str]:
    """Return the winning network: area is score, the best features are named."""
    W = ranker.network_.adjacency.toarray()
    score = ranker.scores_
    radius = radii(score)
    share = (score - score.min()) / np.ptp(score)
    parts = []
    strength = (W - ranker.threshold_) / (2.0 - ranker.threshold_)
    for j, k in np.argwhere(np.triu(W) > 0):
        s = strength[j, k]
        parts.append(line(*place[j], *place[k], LINE, 0.7 + 2.2 * s, 0.3 + 0.5 * s))
    order = np.argsort(ranker.ranking_)
    labels = Labels(place, radius, box)
    names = []
    for j in order:
        x, y = place[j]
        best = ranker.ranking_[j] <= N_LABELLED
        parts.append(circle(x, y, radius[j], colour(share[j])))
        if best:
            rank = str(ranker.ranking_[j])
            parts.append(text(x, y + 6, rank, 17, "#ffffff", "middle", 700))
        size, fill, weight = (14, INK, 600) if best else (11, GREY, 400)
        name = str(ranker.network_.names[j])
        names.append(labels.put(x, y, radius[j], name, size, fill, weight))
    return parts + names


def draw_thumbnail(ranker, place, W, i, box, words, fill) -> list[str]:
    """Return the network of one threshold, small."""
    left, top, right, bottom = box
    at = fit_into(place, (left + 9, top + 9, right - 9, bottom - 9))
    parts = [
        f'<rect x="{left}" y="{top}" width="{right - left}" height="{bottom - top}" '
        f'rx="6" fill="#ffffff" stroke="{fill}" stroke-width="1.5"/>'
    ]
    thick = 0.35 if ranker.n_edges_[i] > 300 else 0.8
    for j, k in np.argwhere(np.triu(W >= ranker.thresholds_[i] - 1e-12, 1)):
        parts.append(line(*at[j], *at[k], LINE, thick, 0.7))
    score = ranker.all_scores_[i]
    for (x, y), r in zip(at, 5.5 * np.sqrt(score / score.max()), strict=True):
        parts.append(circle(x, y, r, "#145388", width=0.5))
    middle = (left + right) / 2
    parts.append(text(middle, bottom + 18, words, 13, fill, "middle", 600))
    return parts


def draw_curve(ranker: FRANe, marks: list[tuple[int, str]], box) -> list[str]:
    """Return RQH at each threshold, dense networks to the right."""
    left, top, right, bottom = box
    r = ranker.thresholds_ - 1.0
    highest = 2 * np.ceil(np.nanmax(ranker.quality_) / 2)

    def at(i):
        x = left + (1.0 - r[i]) / 1.4 * (right - left)
        return x, bottom - ranker.quality_[i] / highest * (bottom - top)

    parts = []
    for tick in np.arange(0, highest + 1, 4):
        y = bottom - tick / highest * (bottom - top)
        parts.append(line(left, y, right, y, PALE))
        parts.append(text(left - 8, y + 4, f"{tick:g}", 12, GREY, "end"))
    for tick in (1.0, 0.8, 0.6, 0.4, 0.2, 0.0, -0.2, -0.4):
        x = left + (1.0 - tick) / 1.4 * (right - left)
        label = f"{tick:.1f}".replace("-", "−")
        parts.append(text(x, bottom + 18, label, 12, GREY, "middle"))
    solved = np.flatnonzero(~ranker.too_sparse_)
    path = "M" + " L".join("{:.1f},{:.1f}".format(*at(i)) for i in solved)
    parts.append(f'<path d="{path}" fill="none" stroke="#145388" stroke-width="2.2"/>')
    for i, fill in marks:
        x, y = at(i)
        parts.append(circle(x, y, 5.5, fill))
    x, y = at(ranker.winner_)
    value = f"RQH {ranker.quality_[ranker.winner_]:.1f}"
    parts.append(text(x + 12, y - 2, value, 14, WINNER, "start", 700, halo=True))
    middle = (left + right) / 2
    words = "an edge needs at least this correlation"
    parts.append(text(middle, bottom + 40, words, 13, GREY, "middle"))
    words = "spread of the scores (RQH)"
    parts.append(text(left - 8, top - 12, words, 13, GREY))
    return parts


def radii(score: np.ndarray) -> np.ndarray:
    """Return the radii of the nodes: areas are scores."""
    return 23.0 * np.sqrt(score / score.max())


def places(W: np.ndarray, R: np.ndarray, score: np.ndarray):
    """Return the places of the nodes and the box that holds them and their names.

    The largest component has the room; the others stand in a row below it.
    """
    _, part = connected_components(W)
    main = part == np.bincount(part).argmax()
    layout = spring_layout(W[np.ix_(main, main)], start_of(R[main][:, main]))
    place = np.empty((len(W), 2))
    # Half way to even spacing, so that outliers leave room for the others.
    even = layout.argsort(axis=0).argsort(axis=0) / (len(layout) - 1)
    layout = fit_into(layout, (0.0, 0.0, 1.0, 1.0)) + even
    place[main] = fit_into(layout, (525.0, 140.0, 1072.0, 505.0))
    place[main] = spread_out(place[main], radii(score)[main], 22.0)
    others = np.flatnonzero(~main)
    others = others[np.argsort(part[others], kind="stable")]
    place[others] = [(545.0 + 140.0 * i, 572.0) for i in range(len(others))]
    return place, (482.0, 110.0, 1188.0, 612.0)


def main() -> None:
    """Rank the measurements, draw, and write the file."""
    table = load_breast_cancer(as_frame=True).data
    ranker = FRANe(store_candidates=True).fit(table)
    R = np.corrcoef(table.to_numpy().T)
    W = ranker.network_.adjacency.toarray()
    place, box = places(W, R, ranker.scores_)
    candidates = np.flatnonzero(~ranker.too_sparse_)
    sparse = int(candidates[0])
    dense = int(np.searchsorted(ranker.n_edges_, 300))
    marks = [(sparse, GREY), (ranker.winner_, WINNER), (dense, GREY)]
    parts = [
        text(
            28, 46, "Which few columns represent all the others?", 26, INK, weight=700
        ),
        text(28, 84, "Try 100 thresholds …", 17, INK, weight=600),
        text(490, 84, "… keep the network whose scores spread most", 17, weight=600),
    ]
    for n, (i, fill) in enumerate(marks):
        left = 28 + 140 * n
        frame = (left, 104, left + 124, 228)
        words = f"{ranker.n_edges_[i]} edges"
        parts += draw_thumbnail(ranker, place, W=R + 1.0, i=i, box=frame, words=words,
                                fill=fill)  # fmt: skip
    parts += draw_curve(ranker, marks, (60.0, 316.0, 432.0, 560.0))
    parts.append(line(461, 70, 461, HEIGHT - 60, PALE))
    parts += draw_network(ranker, place, box)
    r = ranker.threshold_ - 1.0
    caption = (
        f"{len(W)} measurements of {len(table)} tumours, no labels used. A node is a "
        "column, its area is its score, its number its rank. "
        f"Columns with a correlation of at least {r:.2f} are joined."
    )
    parts.append(text(28, HEIGHT - 20, caption, 13, GREY))
    style = (
        "<style>text{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,"
        "sans-serif}.halo{paint-order:stroke;stroke:#fbfcfd;stroke-width:4px;"
        "stroke-linejoin:round}</style>"
    )
    title = "The attribute network of a real table, and how its threshold was chosen"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'role="img"><title>{title}</title>{style}'
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="12" fill="#fbfcfd"/>'
    )
    target = Path(__file__).with_name("overview.svg")
    target.write_text("\n".join([head, *parts, "</svg>", ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
