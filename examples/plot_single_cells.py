"""
Single cells: beside the highly variable genes
==============================================

Rank genes in AnnData, and compare them with the highly variable ones. It needs the
extras ``anndata`` and ``plot``; scanpy is used where it is installed.
"""

# %%
# Counts of 600 cells. Ten programmes of genes are more or less active in each cell, and
# 15 genes follow each programme. As many genes follow none. Cells differ in depth, and
# genes in how much of them there is.

from importlib.util import find_spec

import anndata
import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse

from franet.anndata import rank_features

rng = np.random.default_rng(0)
n_cells, n_programmes, n_genes = 600, 10, 15
programme = np.repeat(np.arange(n_programmes), n_genes)
activity = rng.gamma(1.0, 1.0, (n_cells, n_programmes))[:, programme]
level = rng.lognormal(-0.5, 0.8, 2 * len(programme))
depth = rng.lognormal(0.0, 0.3, (n_cells, 1))
expected = depth * level * np.hstack([activity, np.ones_like(activity)])
names = [f"p{k}.{i}" for k in range(n_programmes) for i in range(n_genes)]
names += [f"other{i}" for i in range(len(programme))]

adata = anndata.AnnData(sparse.csr_matrix(rng.poisson(expected).astype(np.float32)))
adata.var_names = names
adata.layers["counts"] = adata.X.copy()
share = adata.X.nnz / np.prod(adata.shape)
print(f"{adata.n_obs} cells, {adata.n_vars} genes, {share:.0%} of the counts above 0")

# %%
# The same depth for all cells, then logarithms: what correlations need. With scanpy it
# is ``sc.pp.normalize_total(adata, target_sum=1e4)`` and ``sc.pp.log1p(adata)``.

total = np.asarray(adata.X.sum(axis=1))
adata.X = adata.X.multiply(1e4 / total).tocsr()
adata.X.data = np.log1p(adata.X.data)

# %%
# Rank. How many genes are selected is found out from the data.

rank_features(adata)
notes = adata.uns["franet"]
print(f"\n{notes['summary']}\n")

best = adata.var.sort_values("franet_rank")[: notes["n_selected"]]
size = adata.var["franet_representative"].value_counts()
print("rank  gene     represents")
for gene, row in best.iterrows():
    print(f"{row['franet_rank']:>4}  {gene:<7}  {size[gene] - 1} others")

# %%
# Every gene has a representative, however far it is. The network tells how far: its
# weights are absolute correlations. Genes of a programme should have one of their own.

by = adata.var["franet_representative"].astype(str)
follows = ~adata.var_names.str.startswith("other")
own = by.str.split(".").str[0] == adata.var_names.str.split(".").str[0]
closest = adata.varp["franet"].max(axis=1).toarray().ravel()
rest = ~adata.var["franet_selected"].to_numpy()
print(
    f"\n{own[follows].mean():.0%} of the genes in programmes are represented by a gene "
    f"of their own.\nMedian |r|: {np.median(closest[follows & rest]):.2f} for them, "
    f"{np.median(closest[~follows]):.2f} for the others."
)

# %%
# As many highly variable genes, by scanpy, or else by variance.

n_top = notes["n_selected"]
if find_spec("scanpy"):
    import scanpy

    scanpy.pp.highly_variable_genes(adata, n_top_genes=n_top)
    other, variable = "highly variable genes of scanpy", adata.var["highly_variable"]
else:
    from franet.rankers import Variance

    rank_features(adata, ranker=Variance(), n_top=n_top, key_added="variance")
    other, variable = "most variable genes", adata.var["variance_selected"]

chosen = adata.var["franet_selected"]
print(f"\nIn both lists: {(chosen & variable).sum()} of {n_top} genes.")
lists = {"representatives of franet": chosen, other: variable}
for what, mask in lists.items():
    found = {name.split(".")[0] for name in adata.var_names[mask & follows]}
    print(f"{len(found):>2} of {n_programmes} programmes have a gene among the {what}")

# %%
# How many genes of each programme are in the two lists; the last bar is the genes that
# follow none.

owner = np.append(programme, np.full(len(programme), n_programmes))
fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
for shift, (what, mask) in zip((-0.2, 0.2), lists.items(), strict=True):
    counts = np.bincount(owner[mask], minlength=n_programmes + 1)
    ax.bar(np.arange(n_programmes + 1) + shift, counts, width=0.4, label=what)
ticks = [*(f"p{k}" for k in range(n_programmes)), "none"]
ax.set_xticks(np.arange(n_programmes + 1), ticks)
ax.set_ylabel("genes")
ax.legend()

# %%
# Go on with the selected genes: ``sc.pp.pca(adata, mask_var="franet_selected")``, or a
# smaller AnnData. Results are written with it.

small = adata[:, chosen].copy()
print(f"\n{adata.shape} -> {small.shape}")
