"""Dropping correlated columns: pure functions behind `drop_correlated`."""
