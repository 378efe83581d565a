"""
For biologists: from .h5ad to a panel of 50 genes
=================================================

A targeted assay measures some dozens of genes, not all of them. Which 50 tell most
about the others? This guide goes from an .h5ad file to a list with a reason for each
gene. :doc:`/anndata` explains every option; :doc:`plot_single_cells` compares the
choice with highly variable genes.

It needs the extras ``anndata`` and ``plot``.
"""

# %%
# **The file.** Yours takes its place. Here it is made: counts of 600 cells of six
# types. 20 programmes of 20 genes each are more or less active by type, 200 genes
# follow none, and ten mitochondrial genes follow the stress of the cell.

import tempfile
from pathlib import Path

import anndata
import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from franet import Cover
from franet.anndata import rank_features

rng = np.random.default_rng(0)
n_cells, n_types, n_programmes, n_genes = 600, 6, 20, 20
cell_type = rng.integers(n_types, size=n_cells)
level = rng.gamma(0.6, 1.0, (n_types, n_programmes))
activity = level[cell_type] * rng.lognormal(0.0, 0.5, (n_cells, n_programmes))
stress = rng.lognormal(0.0, 0.7, (n_cells, 1))
rate = np.hstack(
    [
        np.repeat(activity, n_genes, axis=1),
        np.ones((n_cells, 200)),
        stress.repeat(10, 1),
    ]
)
rate = (
    rate
    * rng.lognormal(0.2, 0.7, rate.shape[1])
    * rng.lognormal(0.0, 0.3, (n_cells, 1))
)
counts = sparse.csr_matrix(rng.poisson(rate).astype(np.float32))

made = anndata.AnnData(counts)
made.obs["type"] = [f"type {label}" for label in cell_type]
made.var_names = [
    *(f"P{i}-{j}" for i in range(n_programmes) for j in range(n_genes)),
    *(f"OTHER{i}" for i in range(200)),
    *(f"MT-{i}" for i in range(10)),
]
folder = tempfile.TemporaryDirectory()
file = Path(folder.name) / "cells.h5ad"
made.write_h5ad(file)

# %%
# **Read and normalize.** The same depth for all cells, then logarithms: what
# correlations need. With scanpy it is ``sc.pp.normalize_total(adata, target_sum=1e4)``
# and ``sc.pp.log1p(adata)``. Genes that hardly any cell has are left out.

adata = anndata.read_h5ad(file)
adata.layers["counts"] = adata.X.copy()
adata.X = adata.X.multiply(1e4 / adata.X.sum(axis=1)).tocsr()
np.log1p(adata.X.data, out=adata.X.data)
seen = (adata.X > 0).sum(axis=0).A1
adata = adata[:, seen >= 10].copy()
print(f"{adata.n_obs} cells × {adata.n_vars} genes")

# %%
# **Choose.** Genes that must be on the panel come first (``include``); those that must
# not, by name or pattern, are left out, but are still represented by the others
# (``exclude``). A gene counts by the variance that it shares with others
# (``weights="variance"``), which suits columns of one unit.

markers = ["P0-0", "P7-3"]
ranker = Cover(50, weights="variance", include=markers, exclude=["MT-*"], n_ranked=50)
rank_features(adata, ranker=ranker)
panel = adata.var[adata.var["franet_selected"]].sort_values("franet_rank")
print(panel[["franet_rank", "franet_score"]].head(10))

# %%
# **Why these?** Each gene of the panel represents others. The list says which, how
# many, and how well: the weights of ``varp`` are absolute correlations.

closest = adata.varp["franet"].max(axis=1).toarray().ravel()
adata.var["r"] = np.where(adata.var["franet_selected"], 1.0, closest)
for gene, others in adata.var.groupby("franet_representative", observed=True):
    if gene in panel.index[:8]:
        rest = others.drop(gene).sort_values("r", ascending=False)
        names = ", ".join(rest.index[:4])
        print(
            f"{gene:<7} {len(rest):>3} genes, mean |r| {rest['r'].mean():.2f}: {names}"
        )

# %%
# **How many are enough?** The curve tells before anything is ordered. It says as well
# where there is nothing more to be told: the 200 genes that follow no programme
# resemble no gene.

fitted = ranker.fit(adata.to_df())
print(fitted.summary())
fig, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ax.plot(np.arange(1, 51), fitted.explained_[:50], color="#0072b2")
ax.set(xlabel="genes on the panel", ylabel="share of the table explained", ylim=0)

# %%
# **Does it keep what matters?** The types were not used. For each cell, are its ten
# nearest cells of the same type, by all genes and by the panel alone? As many genes at
# random show what 50 genes tell anyway.


def same_type(genes):
    """Return the share of neighbors, by these genes, that are of the cell's type."""
    values = adata[:, genes].X.toarray()
    near = NearestNeighbors(n_neighbors=11).fit(values).kneighbors(values)[1][:, 1:]
    types = adata.obs["type"].to_numpy()
    return (types[near] == types[:, None]).mean()


draws = [same_type(rng.choice(adata.var_names, 50, replace=False)) for _ in range(10)]
print(f"all {adata.n_vars} genes    {same_type(adata.var_names):.2f}")
print(f"panel of 50       {same_type(panel.index):.2f}")
print(f"50 at random      {np.mean(draws):.2f} (mean of ten draws)")

# %%
# **Order it.** The panel as a table, and the file with all results in it.

panel.to_csv(Path(folder.name) / "panel.csv")
adata.write_h5ad(Path(folder.name) / "ranked.h5ad")
print(f"{len(panel)} genes written")
folder.cleanup()
plt.show()

# %%
# The same on the command line, with a report to look at, for a file whose ``X`` is
# normalized:
#
# .. code-block:: console
#
#    $ franet rank cells.h5ad --top 50 --output panel.csv --report panel.html
