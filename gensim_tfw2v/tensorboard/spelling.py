"""Words as they can stand in a table: on one line, visible, and each different from every other."""

from __future__ import annotations

import unicodedata

EMPTY = "\\(empty)"
_SHORT = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
# Separators, control characters, lone surrogates and code points without a meaning cannot be seen, or break lines.
_UNSEEN = {"Zl", "Zp", "Cc", "Cs", "Cn"}
# Spaces and format characters (joiners, direction marks) belong to words, but do not make one.
_THIN = {"Zs", "Cf"}


def visible(word: object) -> str:
    """Return `word` with backslash escapes, as in Python's strings, for all that would be lost or misread.

    Quotes, emoji and right-to-left letters stay as they are. A word that shows nothing is escaped whole, and the
    empty word is ``\\(empty)``. A word that is no text, such as a number, is shown as ``str`` shows it.
    """
    text = str(word)
    if not text:
        return EMPTY
    if text.isalnum():  # as most are
        return text
    categories = [unicodedata.category(character) for character in text]
    seen = [index for index, category in enumerate(categories) if category not in _UNSEEN | _THIN]
    first, last = (seen[0], seen[-1]) if seen else (len(text), -1)
    return "".join(
        _escaped(character)
        if character in _SHORT or category in _UNSEEN or (category in _THIN and not first < index < last)
        else character
        for index, (character, category) in enumerate(zip(text, categories, strict=True))
    )


def _escaped(character: str) -> str:
    code = ord(character)
    shape = "\\x{:02x}" if code < 0x100 else "\\u{:04x}" if code < 0x10000 else "\\U{:08x}"
    return _SHORT.get(character) or shape.format(code)


def as_markdown(word: object) -> str:
    """Return `word` as Markdown that shows it, for a cell of a table."""
    escaped = visible(word)
    return "".join(f"&#{ord(character)};" if character in _MARKUP else character for character in escaped)


_MARKUP = frozenset("\\`*_{}[]()<>#+-.!|&~:\"'")
