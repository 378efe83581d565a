"""FRANe on very many features, without looking at all pairs.

Edges of sparse networks are found between near neighbours, dense networks are seen
through a sample of the features, and the outcome says how far it may be off.
"""

from franet.search.approximate._check import Approximation
from franet.search.approximate._search import check_settings, search_approximately

__all__ = ["Approximation", "check_settings", "search_approximately"]
