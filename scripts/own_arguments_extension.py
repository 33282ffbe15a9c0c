"""An extension of griffe, which reads docstrings for the site without importing the package.

The docstring of `TFWord2Vec` has places for tables of its arguments and results, which importing the class fills.
Here griffe fills them.
"""

from __future__ import annotations

from typing import Any

import griffe

from gensim_tfw2v.model.arguments import with_tables


class OwnArguments(griffe.Extension):
    """Fills the places for tables in docstrings of classes."""

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Fill the places in one class's docstring."""
        if cls.docstring:
            cls.docstring.value = with_tables(cls.docstring.value)
