"""The report: one HTML file that shows a ranking and the network behind it, if any.

`summarize` makes a plain dict of a fitted ranker, `render` makes a page of the dict,
`write` writes the page (or the dict, as JSON) to a file. Bokeh and jinja2 are needed
for the page only, and loaded when it is made. `summarize_groups` does the same for what
`drop_correlated` returned, and `summarize_panel` for a panel of genes.
"""

from franet.report._groups import summarize_groups
from franet.report._page import check_installed, check_report, render, write
from franet.report._panel import summarize_panel
from franet.report._summary import FORMAT, VERSION, summarize

__all__ = [
    "FORMAT",
    "VERSION",
    "check_installed",
    "check_report",
    "render",
    "summarize",
    "summarize_groups",
    "summarize_panel",
    "write",
]


def __dir__() -> list[str]:
    return sorted(__all__)
