"""The tables of tests/data/errors.md: what is done, the error it gets, what the message contains."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gensim_tfw2v import DivergenceError

TABLE = Path(__file__).parents[1] / "data" / "errors.md"
ERRORS: dict[str, type[Exception]] = {
    error.__name__: error
    for error in (
        *(ValueError, TypeError, RuntimeError, FileNotFoundError, FileExistsError, NotADirectoryError, OSError),
        DivergenceError,
    )
}
CELLS = re.compile(r"^\| `(?P<code>.+?)` \| (?P<error>\w+) \| (?P<fragments>`.+?`) \|( (?P<gensim>\w+) \|)?$")


@dataclass(frozen=True)
class TableRow:
    """One row of a table."""

    table: str
    """The heading above its table."""
    code: str
    error: type[Exception]
    fragments: tuple[str, ...]
    gensim: str | None
    """What gensim does, where the table says so."""

    def missing_in(self, message: str) -> list[str]:
        """Return what the message should contain, and does not."""
        return [fragment for fragment in self.fragments if fragment not in message]


def rows_of_tables() -> Iterator[TableRow]:
    """Yield the rows of all tables that name an error; fail on one that cannot be read."""
    heading, columns = "", 0
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        elif line.startswith("| ") and not line.startswith("| `"):
            columns = line.count("|") - 1
        elif line.startswith("| `") and columns > 2:
            cells = CELLS.match(line)
            assert cells, f"not a row of code, error, fragments and perhaps gensim: {line}"
            fragments = tuple(re.findall("`(.+?)`", cells["fragments"]))
            yield TableRow(heading, cells["code"], ERRORS[cells["error"]], fragments, cells["gensim"])


def cases_under(heading: str) -> dict[str, tuple[str, ...]]:
    """Return what the message contains in each case of a table of two columns, the case and the message."""
    text = TABLE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {case.strip("`"): tuple(re.findall("`(.+?)`", message)) for case, message in rows[1:]}
