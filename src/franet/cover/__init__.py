"""Picking features that represent the others: pure functions behind `Cover`."""
