"""The page of errors quotes messages as the package raises them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import gensim.models.word2vec
import pytest

import gensim_tfw2v

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "errors.md").read_text(encoding="utf8")
MESSAGES = re.findall(r"^\| `([^`]+)` \| ", PAGE, re.MULTILINE)
SOURCES = [*Path(gensim_tfw2v.__file__).parent.rglob("*.py"), Path(gensim.models.word2vec.__file__)]
VALUE = "…"  # what the page writes for a value in a message


def template(text: ast.expr) -> str:
    """Return a string of the source with `VALUE` for what is computed."""
    if isinstance(text, ast.Constant):
        return str(text.value)
    if isinstance(text, ast.JoinedStr):
        return "".join(map(template, text.values))
    return VALUE


def strings_in(source: Path) -> Iterator[str]:
    """Yield all strings in a file of Python."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf8"))):
        if isinstance(node, (ast.Constant, ast.JoinedStr)):
            yield template(node)


@pytest.fixture(scope="module")
def raised() -> list[str]:
    """Return all strings in the package, and in gensim's class, that may be a message."""
    return [text for source in SOURCES for text in strings_in(source)]


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_on_the_page_is_one_of_the_package(message: str, raised: list[str]) -> None:
    wanted = re.compile(".*".join(map(re.escape, message.split(VALUE))))
    assert any(wanted.search(text) for text in raised)


def test_the_page_quotes_messages() -> None:
    assert len(MESSAGES) > 50
