"""``franet rank``: which features may be picked, and at what cost."""

import gzip

import numpy as np
import pytest

from cli.commands import NAMES, X, fails, read, run, save
from franet import Cover
from franet.rankers import get


def picks(data, *options):
    return [row["name"] for row in read(data, *options)["features"]]


def test_what_can_be_picked(tmp_path, data):
    path = save(tmp_path / "d.csv", np.column_stack([X[:, :9], np.ones(60)]))
    assert len(picks(path)) == 9
    assert "(1 features constant, ranked last)" in run("rank", path).stdout
    assert picks(path, "--top", 10)[-1] == "g9"  # constant, behind all others
    line = fails("rank", path, "--top", 9, "--exclude", "g1", code=2)
    assert "--top 9, but only 8 features can be picked: others are constant" in line
    assert fails("rank", data, "--top", 11, code=2).endswith("Ask for at most 10.")
    line = fails("rank", data, "--top", 1, "--include", "g1,g2", code=2)
    assert "--top 1, but --include names 2 features" in line
    everything = ",".join(NAMES)
    assert len(picks(data, "--include", everything)) == 10
    line = fails("rank", data, "--exclude", everything, code=2)
    assert "--exclude leaves no feature" in line


def test_include_and_exclude(data):
    free = picks(data, "--top", 4)
    assert picks(data, "--top", 4, "--include", "g5,g7")[:2] == ["g5", "g7"]
    again = ["--include", "g5", "--include", "7", "--include", "g5"]
    assert picks(data, "--top", 4, *again)[:2] == ["g5", "g7"]
    without = picks(data, "--top", 4, "--exclude", free[0])
    assert free[0] not in without
    summary = read(data, "--include", "3", "--exclude", "g0, g1")
    assert summary["parameters"]["include"] == ["g3"]
    assert summary["parameters"]["exclude"] == ["g0", "g1"]
    assert len(summary["features"]) == 8


def test_names_with_commas_and_numbers(tmp_path):
    names = ["a,b", "3", " c ", "a", "b", *NAMES[5:]]
    path = tmp_path / "d.tsv"
    rows = ["\t".join(map(repr, row)) for row in X.tolist()]
    path.write_text("\n".join(["\t".join(names), *rows]) + "\n")
    known = {row["index"]: row["name"] for row in read(path)["features"]}
    assert known[0] == "a,b"
    for text, wanted in [
        ("a,b", [0]),  # the name comes before the list
        ("b,a", [4, 3]),
        ("3", [1]),  # the name comes before the position
        ("4,g7", [4, 7]),
    ]:
        rows = read(path, "--include", text, "--header")["features"]
        assert [row["index"] for row in rows][: len(wanted)] == wanted


def test_features_without_names(tmp_path):
    np.save(tmp_path / "x.npy", X)
    rows = read(tmp_path / "x.npy", "--include", "x7,5")["features"]
    assert [row["index"] for row in rows][:2] == [7, 5]


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--include", "g11"], "--include: There is no feature 'g11'. Did you mean"),
        (["--exclude", "g1,10"], "--exclude: There is no feature 10: positions go"),
        (["--include", ","], "--include names no feature"),
        (["--include", "g1", "--exclude", "g1"], "'g1' is in --include and in --excl"),
    ],
)
def test_features_that_are_not_there(data, options, part):
    assert part in fails("rank", data, *options, code=2)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz"])
@pytest.mark.parametrize("head", [True, False])
def test_cost(data, tmp_path, ending, head):
    cheap = picks(data, "--top", 1)[0]
    mark = "\t" if "tsv" in ending else ","
    lines = [["feature", "cost"]] if head else []
    lines += [[cheap, "1e6"], [], ["9", "2.5"]]
    text = "\n".join(mark.join(line) for line in lines)
    path = tmp_path / f"costs{ending}"
    path.write_bytes(gzip.compress(text.encode()) if "gz" in ending else text.encode())
    summary = read(data, "--top", 1, "--cost", path)
    assert summary["parameters"]["cost"] == {cheap: 1e6, "g9": 2.5}
    assert summary["features"][0]["name"] != cheap


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_weights(data, tmp_path, ending):
    """Of the features only those of one group count: it is represented first."""
    path, mark = tmp_path / f"weights{ending}", "\t" if ending == ".tsv" else ","
    for group in ((0, 1, 2), (3, 4, 5), (6, 7, 8), (9,)):
        weights = {name: float(j in group) for j, name in enumerate(NAMES)}
        lines = [["feature", "weight"], *([k, str(v)] for k, v in weights.items())]
        path.write_text("\n".join(map(mark.join, lines)))
        summary = read(data, "--top", 1, "--weights", path)
        assert summary["features"][0]["index"] in group
        assert summary["parameters"]["weights"] == weights
    ranker = Cover(4, weights={0: 7.0}).fit(X)
    path.write_text(f"g0{mark}7\n")
    summary = read(data, "--top", 4, "--weights", path)
    assert [row["explained"] for row in summary["features"]] == pytest.approx(
        ranker.explained_, rel=1e-9
    )
    path.write_text("\n".join(f"{name}{mark}0" for name in NAMES))
    line = fails("rank", data, "--weights", path, code=2)
    assert line == (
        "error: --weights: all columns that vary have 0. Give one of them a positive "
        "number."
    )


@pytest.mark.parametrize("given", ["robbust", "no.csv", ""])
def test_weights_that_are_neither_a_rule_nor_a_file(data, given):
    line = fails("rank", data, "--weights", given, code=2)
    assert line.startswith(
        f"error: Invalid value for '--weights': {given!r} is neither "
    )
    assert "neither robust nor variance nor a file" in line
    assert "or a csv or tsv file with lines 'feature,weight'" in line


def test_groups(data, tmp_path):
    path = tmp_path / "groups.csv"
    path.write_text("g0,first\ng3,first\ng6,first\ng1,\n")
    summary = read(data, "--groups", path, "--include", "g3")
    named = [row["name"] for row in summary["features"]]
    assert len(named) == 8
    assert not {"g0", "g6"} & set(named)
    assert summary["parameters"]["groups"]["g1"] is None
    line = fails("rank", data, "--groups", path, "--include", "g3,g0", code=2)
    assert "--include: 'g3' and 'g0' are in one group" in line


def test_features_in_several_groups(data, tmp_path):
    path = tmp_path / "groups.csv"
    path.write_text("feature,group\ng0,a\ng1,a\ng1,b\ng2,b\ng3,c\n")
    summary = read(data, "--groups", path, "--include", "g1", "--top", 3)
    assert not {row["name"] for row in summary["features"]} & {"g0", "g2"}
    groups = {"g0": "a", "g1": ["a", "b"], "g2": "b", "g3": "c"}
    assert summary["parameters"]["groups"] == groups
    line = fails("rank", data, "--groups", path, "--include", "g1,g2", code=2)
    assert "'g1' and 'g2' are in one group" in line


def test_a_feature_called_feature(tmp_path):
    path = save(tmp_path / "d.csv", names=["feature", *NAMES[1:]])
    (tmp_path / "c.csv").write_text("feature,3\n")
    parameters = read(path, "--cost", tmp_path / "c.csv")["parameters"]
    assert parameters["cost"] == {"feature": 3.0}


@pytest.mark.parametrize(
    ("option", "text", "part"),
    [
        ("cost", "feature,cost\ng1,1\ng12,1\n", "line 3: There is no feature 'g12'"),
        ("cost", "g1,cheap\n", "line 1: 'g1' has the cost 'cheap'; write a pos"),
        ("cost", "g1,1\n\ng2,-1\n", "line 3: 'g2' has the cost '-1'; write a positive"),
        ("cost", "g1,inf\n", "line 1: 'g1' has the cost 'inf'"),
        ("cost", "g1\n", "line 1: has 1 cell; write a feature and its cost"),
        ("cost", "g1,1\ng1,2\n", "line 2: 'g1' stands there twice"),
        ("cost", "g1,0\n", "line 1: 'g1' has the cost '0'; write a positive number"),
        (
            "weights",
            "g1,-2\n",
            "line 1: 'g1' has the weight '-2'; write a number of at",
        ),
        ("weights", "g1,nan\n", "line 1: 'g1' has the weight 'nan'; write a number"),
        ("weights", "g1,\n", "line 1: 'g1' has the weight ''; write a number of at l"),
        ("weights", "g0\n", "line 1: has 1 cell; write a feature and its weight"),
        ("weights", "gg,1\n", "line 1: There is no feature 'gg'"),
        ("groups", "g1,a,b\n", "line 1: has 3 cells; write a feature and its group"),
        ("groups", "14,a\n", "line 1: There is no feature 14"),
    ],
)
def test_files_that_are_wrong(data, tmp_path, option, text, part):
    path = tmp_path / "file.csv"
    path.write_text(text)
    line = fails("rank", data, f"--{option}", path, code=1)
    assert f"--{option} {path}, {part}" in line


def test_files_that_cannot_be_read(data, tmp_path):
    assert "no such file" in fails("rank", data, "--cost", tmp_path / "no.csv", code=1)
    (tmp_path / "empty.csv").write_text("")
    line = fails("rank", data, "--groups", tmp_path / "empty.csv", code=1)
    assert "empty" in line


@pytest.mark.parametrize("ranker", ["column-subset", "facility-location"])
def test_other_rankers_that_pick_take_them(data, tmp_path, ranker):
    costs, groups = tmp_path / "costs.csv", tmp_path / "groups.tsv"
    costs.write_text("g0,5\ng3,0.5\n")
    groups.write_text("g6\ta\ng7\ta\ng8\ta\n")
    by = ("--ranker", ranker)
    given = ("--exclude", "g4,g9", "--cost", costs, "--groups", groups)
    summary = read(data, *by, "--include", "g1", "--include", "8", *given)
    wanted = get(ranker)(
        include=[1, 8],
        exclude=[4, 9],
        cost={0: 5.0, 3: 0.5},
        groups={6: "a", 7: "a", 8: "a"},
    )
    order = wanted.set_params(n_features_to_select=6).fit(X).order_
    # What can be picked is shown, and no more.
    assert [row["index"] for row in summary["features"]] == order[:6].tolist()
    assert summary["parameters"]["include"] == ["g1", "g8"]
    assert summary["parameters"]["cost"] == {"g0": 5.0, "g3": 0.5}
    line = fails("rank", data, *by, "--top", 9, *given, code=2)
    assert "--top 9, but only 6 features can be picked" in line
    line = fails("rank", data, *by, "--include", "g6,g7", *given, code=2)
    assert "--include: 'g6' and 'g7' are in one group" in line
    rows = read(data, *by, "--include", "g9", "--stability", 3, "--top", 2)["features"]
    assert rows[0]["selected_share"] == 1.0


def test_patterns(data):
    out = run("rank", data, "--exclude", "g[0-2], g9", "--include", "g5").stdout
    assert "--exclude g[0-2]: matches 3 features" in out.splitlines()
    summary = read(data, "--exclude", "g[0-2],g9", "--include", "g5*")
    assert summary["parameters"]["exclude"] == ["g0", "g1", "g2", "g9"]
    assert summary["parameters"]["include"] == ["g5"]
    assert summary["matches"] == [
        "--include g5*: matches 1 feature",
        "--exclude g[0-2]: matches 3 features",
    ]
    line = fails("rank", data, "--exclude", "G*", code=2)
    assert "--exclude: No feature matches 'G*'. Did you mean 'g0', 'g1'" in line
    line = fails("prune", data, "--keep", "x*", code=2)
    assert "--keep: No feature matches 'x*'." in line
    out = run("prune", data, "--keep", "g[09]").stdout
    assert "--keep g[09]: matches 2 features" in out.splitlines()
    columns = ("--columns", "mine=g[0-2]", "--rankers", "variance", "--folds", 3)
    assert "mine" in run("evaluate", data, *columns).stdout
