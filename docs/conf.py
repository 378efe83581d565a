"""How the documentation site is built: ``make docs``, without a network connection."""

from __future__ import annotations

import re
from typing import Any

import franet

project = "franet"
author = "The franet developers"
project_copyright = author
version = release = franet.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
# What docstrings put between single backticks is a name or a value.
default_role = "literal"

myst_enable_extensions = ["attrs_block"]
myst_heading_anchors = 3

autodoc_typehints = "none"
autodoc_member_order = "bysource"
# Templates list the members; numpydoc would do it once more.
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "guides",
    "backreferences_dir": "api/examples",
    "doc_module": ("franet",),
    "within_subsection_order": "FileNameSortKey",
    "capture_repr": (),
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "franet"
html_static_path = ["_static"]
html_css_files = ["franet.css"]
html_copy_source = False
# Pages without neighbours need no list of them.
html_sidebars = {"start": [], "benchmark/README": []}
html_theme_options = {
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
}

# Links of pages to scripts lead to what the gallery made of them.
EXAMPLE = re.compile(r"\]\((?:\.\./)+examples/(\w+)\.(?:py|rst)\)")
# In docstrings a name such as ``n_features_in_`` is no link, and |r| no substitution.
NAME = re.compile(r"(?<![`\w.])([A-Za-z]\w*)_(?=[,)\s]|$)")
BARS = re.compile(r"\|(?=\S)([^|`]{1,12}?)\|")
LITERAL = re.compile(r"(``.*?``|`[^`]*`_?)")


def lead_to_gallery(app: Any, name: str, source: list[str]) -> None:
    """Turn links to examples into links to pages."""
    text = EXAMPLE.sub(r"](/guides/\1.rst)", source[0])
    source[0] = text.replace("/guides/README.rst", "/guides/index.rst")


def escape(
    app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Keep docutils from reading names and absolute values as markup."""
    for i, line in enumerate(lines):
        parts = LITERAL.split(line)
        for k in range(0, len(parts), 2):
            parts[k] = NAME.sub(r"\1\\_", BARS.sub(r"\|\1\|", parts[k]))
        lines[i] = "".join(parts)


def skip(
    app: Any, what: str, name: str, thing: Any, skipped: bool, options: Any
) -> bool | None:
    """Leave out what Python writes about the fields of a tuple: the class says more."""
    text = getattr(thing, "__doc__", None) or ""
    return True if text.startswith("Alias for field number") else None


def setup(app: Any) -> None:
    """Connect the functions above; numpydoc's own come before `escape`."""
    app.connect("source-read", lead_to_gallery)
    app.connect("autodoc-process-docstring", escape, priority=900)
    app.connect("autodoc-skip-member", skip)
