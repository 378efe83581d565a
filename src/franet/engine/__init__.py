"""The exact engine: similarity tiles, reductions over them, kernels."""
