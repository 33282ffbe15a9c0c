"""The docstring of TFWord2Vec, in which tables of arguments and results fill places such as ``{own_arguments}``."""

from __future__ import annotations

import re
import textwrap

from gensim_tfw2v.arguments.texts import docstring_entries, docstring_entry
from gensim_tfw2v.model.own_arguments import OWN_ARGUMENTS
from gensim_tfw2v.model.results import RESULTS

_TABLES = {
    "own_arguments": docstring_entries(OWN_ARGUMENTS),
    "results": "\n".join(docstring_entry(result.name, result.type, result.help) for result in RESULTS),
}
_PLACE = re.compile(rf"^( *)\{{({'|'.join(_TABLES)})\}}$", re.MULTILINE)


def with_tables(docstring: str | None) -> str:
    """Return a docstring with each place filled by its table, indented as the place is."""
    return _PLACE.sub(lambda place: textwrap.indent(_TABLES[place[2]], place[1]), docstring or "")
