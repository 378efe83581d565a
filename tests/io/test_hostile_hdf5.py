"""HDF5 files whose values lie in other files."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from franet import FRANe
from franet.exceptions import DataError
from franet.io import read_table

h5py = pytest.importorskip("h5py", reason="needs the extra hdf5")

X = np.random.default_rng(0).normal(size=(40, 6))
KINDS = {
    "storage": "X keeps its values in another file (external storage)",
    "link": "X is an external link to another file",
    "virtual": "X is a virtual dataset",
    "unlimited": "X is a virtual dataset",
}


def lead_out(group, name, kind, secret):
    """Put a dataset into a group whose values lie in another file."""
    if kind == "storage":
        group.create_dataset(name, X.shape, "f8", external=[(secret, 0, X.nbytes)])
    elif kind == "link":
        group[name] = h5py.ExternalLink(secret, "/X")
    else:
        layout = h5py.VirtualLayout(X.shape, "f8", maxshape=(None, X.shape[1]))
        source = h5py.VirtualSource(secret, "X", X.shape, maxshape=(None, X.shape[1]))
        if kind == "unlimited":
            layout[: h5py.h5s.UNLIMITED, :] = source[: h5py.h5s.UNLIMITED, :]
        else:
            layout[:, :] = source
        group.create_virtual_dataset(name, layout)


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(params=["there", "missing"])
def secret(request, tmp_path, kind):
    """Give the file that is not to be read; HDF5 fills the gap if it is missing."""
    path = tmp_path / "secret"
    if request.param == "there" and kind == "storage":
        path.write_bytes(X.tobytes())
    elif request.param == "there":
        with h5py.File(path, "w") as file:
            file["X"] = X
    return str(path)


def refused(path, kind, **options):
    with pytest.raises(DataError) as caught:
        read_table(path, **options)
    assert KINDS[kind] in str(caught.value)
    assert str(caught.value).startswith(f"{path}: /")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("lazy", [None, 0])
def test_arrays(tmp_path, kind, secret, lazy):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        lead_out(file.create_group("inner"), "X", kind, secret)
    refused(path, kind, lazy=lazy)
    # Also beside what is read: other libraries open all that is there.
    with h5py.File(path, "r+") as file:
        file["Z"] = X
    refused(path, kind, lazy=lazy, variable="Z")


def test_matlab(tmp_path, kind, secret):
    path = tmp_path / "x.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        lead_out(file, "X", kind, secret)
    refused(path, kind)


@pytest.mark.parametrize("ending", ["h5ad", "h5"])
@pytest.mark.parametrize("lazy", [None, 0])
@pytest.mark.parametrize("where", ["X", "uns/X"])
def test_anndata(tmp_path, kind, secret, ending, lazy, where):
    anndata = pytest.importorskip("anndata", reason="needs the extra anndata")
    path = tmp_path / f"x.{ending}"
    anndata.AnnData(X.copy()).write_h5ad(path)
    with h5py.File(path, "r+") as file:
        if where in file:
            del file[where]
        lead_out(file, where, kind, secret)
    refused(path, kind, lazy=lazy)


def test_datasets_that_the_user_has_opened(tmp_path, kind, secret):
    if kind == "link":
        pytest.skip("the dataset of the other file is what the user has opened")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        lead_out(file, "X", kind, secret)
    with h5py.File(tmp_path / "x.h5") as file:
        fitted = FRANe(n_thresholds=5).fit(X)
        for use in (FRANe(n_thresholds=5).fit, fitted.transform, fitted.score):
            with pytest.raises(DataError) as caught:
                use(file["X"])
            assert KINDS[kind] in str(caught.value)


def test_sparse_matrices_that_the_user_has_opened(tmp_path):
    anndata = pytest.importorskip("anndata", reason="needs the extra anndata")
    from scipy import sparse

    from franet.anndata import rank_features

    path = tmp_path / "x.h5ad"
    anndata.AnnData(sparse.csr_matrix(np.eye(6))).write_h5ad(path)
    with h5py.File(path, "r+") as file:
        del file["X/data"]
        external = [(str(tmp_path / "secret"), 0, 48)]
        file["X"].create_dataset("data", (6,), "f8", external=external)
    with h5py.File(path) as file:
        with pytest.raises(DataError, match="/X/data keeps its values in another file"):
            FRANe(n_thresholds=5).fit(anndata.io.sparse_dataset(file["X"]))
    backed = anndata.read_h5ad(path, backed="r")
    fitted = FRANe(n_thresholds=5).fit(X)
    rank = partial(rank_features, inplace=False)
    for use in (FRANe(n_thresholds=5).fit, fitted.transform, rank):
        for adata in (backed, backed[:4]):
            with pytest.raises(DataError, match="/X/data keeps its values in another"):
                use(adata)
    backed.file.close()


def test_references_to_what_has_no_name(tmp_path):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["X"] = X
        file["levels"] = ["a", "b"]
        file["X"].attrs["categories"] = file["levels"].ref
        file["X"].attrs["nothing"] = h5py.Reference()
    np.testing.assert_array_equal(read_table(path, variable="X").X, X)
    # Of the two names in the root group the second one goes, the object stays.
    data = bytearray(path.read_bytes())
    at = data.index(b"SNOD") + 6
    assert data[at] == 2
    data[at] = 1
    path.write_bytes(data)
    with pytest.raises(DataError, match="/X refers by 'categories' to what has no"):
        read_table(path, variable="X")


def test_links_inside_the_file(tmp_path):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file["inner/X"] = X
        file["soft"] = h5py.SoftLink("/inner/X")
        file["nowhere"] = h5py.SoftLink("/inner/Y")
        file["hard"] = file["inner/X"]
    np.testing.assert_array_equal(read_table(path).X, X)


def test_without_another_process(tmp_path, in_process):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["X"] = h5py.ExternalLink("secret", "/X")
    refused(tmp_path / "x.h5", "link")
