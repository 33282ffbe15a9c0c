"""A table of arguments → its rows in docs/reference/arguments.md and its entries in a docstring."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any

from gensim_tfw2v.arguments.argument import Argument


def docstring_entries(arguments: Iterable[Argument]) -> str:
    """Return the entries of arguments in a class's docstring, in NumPy style."""
    return "\n".join(
        docstring_entry(argument.name, argument.type, f"{argument.help}.{_sentence_of_default(argument)}")
        for argument in arguments
    )


def docstring_entry(name: str, type_text: str, text: str) -> str:
    """Return the entry of one argument or attribute in a docstring, in NumPy style."""
    lines = textwrap.wrap(_without_links(text), 108, break_on_hyphens=False)  # because paths have hyphens
    return "\n".join([f"{name} : {type_text}", *(f"    {line}" for line in lines)])


def table_in_markdown(arguments: Iterable[Argument]) -> str:
    """Return a table of arguments, as in docs/reference/arguments.md: links in it begin in that folder."""
    rows = [
        f"| `{argument.name}` | `{_shown(argument.default)}` | {argument.help}.{_sentence_of_default(argument)} |"
        for argument in arguments
    ]
    table = "\n".join(["| argument | default | meaning |", "|---|---|---|", *rows])
    return table.replace("``", "`").replace("](docs/", "](../")


def _sentence_of_default(argument: Argument) -> str:
    return f" Default: {argument.default_help}." if argument.default_help else ""


def _shown(default: Any) -> str:
    return "2**28" if default == 2**28 else f"{default:g}" if isinstance(default, float) else repr(default)


def _without_links(text: str) -> str:
    """Return a text without its Markdown links."""
    parts: Iterable[str] = text.split("[")
    return "".join(part.partition("]")[0] + part.partition(")")[2] if "](" in part else part for part in parts)
