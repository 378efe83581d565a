"""Docstrings that share the description of a parameter."""

from __future__ import annotations

import inspect

from franet._common.docs import entries, shared_docs

AX = """
    ax : Axes, optional
        The axes to draw on.
    """
TOP = "top : int, default=25\n    Number of features."


def test_a_placeholder_line_becomes_the_text_at_its_indentation() -> None:
    @shared_docs(ax=AX, top=TOP)
    def plot(top: int = 25, ax: object = None) -> None:
        """Draw.

        Parameters
        ----------
        {top}
        {ax}

        Returns
        -------
        axes : Axes
        """

    assert inspect.getdoc(plot) == (
        "Draw.\n\nParameters\n----------\n"
        "top : int, default=25\n    Number of features.\n"
        "ax : Axes, optional\n    The axes to draw on.\n\n"
        "Returns\n-------\naxes : Axes"
    )


def test_other_braces_and_unknown_names_stay() -> None:
    @shared_docs(ax=AX)
    def plot() -> None:
        """Draw {ax} in {"a": 1}.

        {other}
        mode : {"ax", "none"}
        """

    assert inspect.getdoc(plot) == (
        'Draw {ax} in {"a": 1}.\n\n{other}\nmode : {"ax", "none"}'
    )


def test_a_class_is_filled_and_returned_itself() -> None:
    class Plain:
        """Hold nothing.

        Parameters
        ----------
        {top}
        """

    assert shared_docs(top=TOP)(Plain) is Plain
    assert "Number of features." in (Plain.__doc__ or "")


def test_no_docstring_is_no_error() -> None:
    def plain() -> None:
        pass

    assert shared_docs(top=TOP)(plain).__doc__ is None


def test_a_backslash_in_a_text_is_kept() -> None:
    @shared_docs(p=r"p : float" + "\n" + r"    As in \1 and \alpha.")
    def plain() -> None:
        """Do.

        {p}
        """

    assert r"As in \1 and \alpha." in (plain.__doc__ or "")


def test_entries_end_where_their_indentation_does() -> None:
    found = entries(
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            The axes to draw on,
            or none.
        mode : {"a", "b"}
            A mode.

        Returns
        -------
        axes : Axes
        """
    )
    assert found == {
        "ax": "ax : Axes, optional\n    The axes to draw on,\n    or none.",
        "mode": 'mode : {"a", "b"}\n    A mode.',
        "axes": "axes : Axes",
    }
    assert entries(None) == {}
