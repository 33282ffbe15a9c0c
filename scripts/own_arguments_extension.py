"""An extension of griffe, which reads docstrings for the site without importing the package.

The docstring of `TFWord2Vec` has a place for the table of its own arguments, which importing the class fills. Here
griffe fills it.
"""

from __future__ import annotations

import inspect
from typing import Any

import griffe

from gensim_tfw2v.model.arguments import docstring_of_own

_PLACE = "{own_arguments}"


class OwnArguments(griffe.Extension):
    """Fills the place for the table of arguments in docstrings of classes."""

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Fill the place in one class's docstring, if it has one."""
        if cls.docstring and _PLACE in cls.docstring.value:
            cls.docstring.value = cls.docstring.value.replace(_PLACE, inspect.cleandoc(docstring_of_own()))
