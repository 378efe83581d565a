"""Thresholds, centralities, the race between networks, and the search for one."""
