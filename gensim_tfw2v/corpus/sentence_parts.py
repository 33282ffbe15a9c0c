"""Sentences in memory whose words come as numbers, many sentences at a time: no word is an object of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from typing import Any

from gensim_tfw2v.corpus.file_scan import sentences_of_parts
from gensim_tfw2v.corpus.tokenizer import Part


class SentenceParts(ABC):
    """Sentences that can be read several times, and are as those of a file: empty ones do not count.

    As an iterable it yields each sentence as a list of words, for programs that do not know parts.
    """

    repeats: bool = True
    """Whether all passes yield the same sentences. If not, each epoch reads a pass of its own."""
    passes: int = 0
    """If passes differ: the number of the next one. The first has the number 0."""

    def of_pass(self, number: int) -> SentenceParts:
        """Return what yields the sentences of a pass again and again; the next pass then has a greater number."""
        return self

    @abstractmethod
    def parts(self) -> Generator[Part, None, None]:
        """Yield all sentences from the first one on, as parts of a text whose every line is a sentence."""

    def numbered_parts(self) -> Generator[tuple[int, Part], None, None]:
        """Yield each part with 0, the number of its only reader."""
        for part in self.parts():
            yield 0, part

    def __iter__(self) -> Iterator[list[Any]]:
        words: list[Any] = []
        known: dict[Any, int] = {}

        def number(word: Any) -> int:
            found = known.setdefault(word, len(words))
            if found == len(words):
                words.append(word)
            return found

        for sentences in sentences_of_parts(self.numbered_parts(), number):
            yield from sentences.as_lists(words)
