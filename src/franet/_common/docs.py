"""Docstrings that share the description of a parameter or an attribute."""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import cleandoc
from textwrap import dedent, indent
from typing import TypeVar

Documented = TypeVar("Documented", bound=Callable[..., object])

# A line that holds nothing but the name of a text.
_PLACEHOLDER = re.compile(r"^([ \t]*)\{(\w+)\}[ \t]*$", re.MULTILINE)
# ``name : type`` at the margin, and the indented lines below it.
_ENTRY = re.compile(r"^(\w+) : .+(?:\n[ \t]+.+)*", re.MULTILINE)


def entries(docstring: str | None) -> dict[str, str]:
    r"""Return the entries of parameters and attributes in a docstring, by name.

    Examples
    --------
    >>> from franet._common.docs import entries
    >>> entries("Parameters\n----------\nax : Axes\n    Where to draw.")
    {'ax': 'ax : Axes\n    Where to draw.'}
    """
    found = _ENTRY.finditer(cleandoc(docstring or ""))
    return {entry[1]: entry[0] for entry in found}


def shared_docs(**texts: str) -> Callable[[Documented], Documented]:
    """Return a decorator that fills shared texts into a docstring.

    A line of the docstring that holds only ``{name}`` is replaced by the text of that
    name, indented as the placeholder is. All other braces stay as they are, and so
    does a placeholder without a text.

    Parameters
    ----------
    **texts : str
        Texts by name, such as the entry of a parameter. A text may have several
        lines; its own common indentation is removed.

    Returns
    -------
    decorator : callable
        Sets ``__doc__`` of a function or class, and returns the same object.

    Examples
    --------
    >>> from inspect import getdoc
    >>> from franet._common.docs import shared_docs
    >>> @shared_docs(ax="ax : Axes, optional")
    ... def plot(ax=None):
    ...     '''Draw.
    ...
    ...     Parameters
    ...     ----------
    ...     {ax}
    ...     '''
    >>> getdoc(plot).splitlines()[-1]
    'ax : Axes, optional'
    """
    ready = {name: dedent(text).strip("\n") for name, text in texts.items()}

    def fill(found: re.Match[str]) -> str:
        margin, name = found.groups()
        return indent(ready[name], margin) if name in ready else found[0]

    def decorate(documented: Documented) -> Documented:
        if documented.__doc__ is not None:  # none under python -OO
            documented.__doc__ = _PLACEHOLDER.sub(fill, documented.__doc__)
        return documented

    return decorate
