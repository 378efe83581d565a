"""Pairs of features: column sources, and the similarities of their columns."""
