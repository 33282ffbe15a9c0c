"""A table of arguments → its entries in a docstring."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from gensim_tfw2v.arguments.argument import Argument


def docstring_entries(arguments: Iterable[Argument]) -> str:
    """Return the entries of arguments in a class's docstring, in NumPy style."""
    return "\n".join(docstring_entry(argument.name, argument.type, meaning_of(argument)) for argument in arguments)


def meaning_of(argument: Argument) -> str:
    """Return what an argument means, and its default."""
    return f"{argument.help}." + (f" Default: {argument.default_help}." if argument.default_help else "")


def docstring_entry(name: str, type_text: str, text: str) -> str:
    """Return the entry of one argument or attribute in a docstring, in NumPy style."""
    lines = textwrap.wrap(_without_links(text), 108, break_on_hyphens=False)  # because paths have hyphens
    return "\n".join([f"{name} : {type_text}", *(f"    {line}" for line in lines)])


def _without_links(text: str) -> str:
    """Return a text without its Markdown links."""
    parts: Iterable[str] = text.split("[")
    return "".join(part.partition("]")[0] + part.partition(")")[2] if "](" in part else part for part in parts)
