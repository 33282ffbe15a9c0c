"""Spells words for a table, so that each is on one line, visible, and different from every other word."""

from __future__ import annotations

import unicodedata

EMPTY = "\\(empty)"
_SHORT = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
# Line and paragraph separators, control characters, lone surrogates and unassigned code points: invisible or line ends.
_INVISIBLE = {"Zl", "Zp", "Cc", "Cs", "Cn"}
# Spaces and format characters (joiners, direction marks) are visible only between other characters of a word.
_EDGE = {"Zs", "Cf"}


def visible(word: object) -> str:
    """Return `word` with backslash escapes, as in Python's strings, for all characters that would be lost or misread.

    Quotes, emoji and right-to-left letters stay as they are. If no character of a word is visible, all are escaped.
    The empty word is ``\\(empty)``. A word that is not text, such as a number, is converted by ``str``.
    """
    text = str(word)
    if not text:
        return EMPTY
    if text.isalnum():  # most words
        return text
    categories = [unicodedata.category(character) for character in text]
    visible_at = [index for index, category in enumerate(categories) if category not in _INVISIBLE | _EDGE]
    first, last = (visible_at[0], visible_at[-1]) if visible_at else (len(text), -1)
    return "".join(
        _escaped(character)
        if character in _SHORT or category in _INVISIBLE or (category in _EDGE and not first < index < last)
        else character
        for index, (character, category) in enumerate(zip(text, categories, strict=True))
    )


def _escaped(character: str) -> str:
    code = ord(character)
    escape = "\\x{:02x}" if code < 0x100 else "\\u{:04x}" if code < 0x10000 else "\\U{:08x}"
    return _SHORT.get(character) or escape.format(code)


def as_markdown(word: object) -> str:
    """Return Markdown that shows `word` in a cell of a table."""
    escaped = visible(word)
    return "".join(f"&#{ord(character)};" if character in _MARKUP else character for character in escaped)


_MARKUP = frozenset("\\`*_{}[]()<>#+-.!|&~:\"'")
