"""`tfw2v neighbours`: prints the words nearest to a word, or to a sum of words minus others."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from gensim_tfw2v.cli.arguments import add_switch, add_value, whole_number
from gensim_tfw2v.cli.errors import CommandError
from gensim_tfw2v.cli.inputs import add_documents, add_format_arguments, vectors_at

DESCRIPTION = """Print the words nearest to each WORD, with their cosine similarity. With --positive and --negative,
print the words nearest to a sum of words minus others, as in: --positive king woman --negative man. With --index,
search an index that `tfw2v index` wrote. A model with n-grams has neighbours of any word. For a word that others do not
know, a line on standard error suggests near spellings, and the exit code is 1. Other words are answered. With
--documents, WORD is the tag of a document, and so are its neighbours."""

# What is spelt like an unknown word.
_FREQUENT_WORDS = 50_000  # any word among this many at the beginning of the vocabulary may be near
_PREFIX_LETTERS = 2  # a rarer word must begin with this many letters of the word
_MOST_EXTRA_LETTERS = 2  # one of two near words may have this many letters more than the other
_LEAST_LIKENESS = 0.65  # twice the letters that two words share in order, in proportion to all letters of both


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v neighbours`."""
    add_value(parser, "--index", "FILE", Path, None, "search this index, without MODEL", "none")
    parser.add_argument(
        "words",
        metavar="MODEL WORD",
        nargs="*",
        help="gensim model, keyed vectors, or word2vec text or binary file, and words whose neighbours to print",
    )
    parser.add_argument("--positive", metavar="WORD", nargs="+", default=[], help="words to add up")
    parser.add_argument("--negative", metavar="WORD", nargs="+", default=[], help="words to subtract")
    add_value(parser, "--topn", "N", whole_number(1), 10, "print this many neighbours of each")
    add_documents(parser)
    add_format_arguments(parser)
    add_switch(parser, "--json", "print JSON instead of a table")


def run(arguments: argparse.Namespace) -> None:
    """Print the neighbours of every word, and of the sum if there is one."""
    searched, words = arguments.index, arguments.words
    if searched is None:
        if not words:
            raise CommandError("no MODEL given, and no --index")
        searched, words = Path(words[0]), words[1:]
    typed: list[tuple[list[str], list[str]]] = [([word], []) for word in words]
    if arguments.positive or arguments.negative:
        typed.append((arguments.positive, arguments.negative))
    if not typed:
        raise CommandError("no WORD given, and no --positive or --negative")
    if arguments.index is None:
        vectors = vectors_at(searched, arguments, arguments.documents)
    else:
        vectors = _opened_index(arguments)
    known = vectors.key_to_index
    queries = [
        ([_word(text, known) for text in positive], [_word(text, known) for text in negative])
        for positive, negative in typed
    ]
    answers = {
        _title(positive, negative): vectors.most_similar(positive, negative, topn=arguments.topn)
        for positive, negative in queries
        if all(_knows(vectors, word) for word in positive + negative)
    }
    if answers or arguments.json:
        print(_as_json(answers) if arguments.json else _as_text(answers), flush=True)  # before the lines of errors
    asked = dict.fromkeys(word for positive, negative in queries for word in positive + negative)
    if unknown := [word for word in asked if not _knows(vectors, word)]:
        place = f"{'model' if arguments.index is None else 'index'} {str(searched)!r}"
        kind = "tag" if arguments.documents else "word"
        complaints = (_complaint(kind, word, place, vectors.index_to_key) for word in unknown)
        raise CommandError(*complaints, exit_code=1)


def _opened_index(arguments: argparse.Namespace) -> Any:
    if given := [name for name in ("documents", "safe", "format") if getattr(arguments, name)]:
        flag = f"--{given[0]}"
        raise CommandError(f"{flag} is for a MODEL; leave it out with --index")
    from gensim_tfw2v.integrations.neighbour_index import NeighbourIndex

    return NeighbourIndex.load(arguments.index)


def _knows(vectors: Any, word: Any) -> bool:
    """Return whether vectors have a word, or make its vector of n-grams."""
    return word in vectors.key_to_index or bool(getattr(vectors, "bucket", 0))


def _word(text: str, known: Mapping[Any, int]) -> Any:
    """Return the word that a text stands for: a whole number where the model has numbers as words."""
    return int(text) if text not in known and text.isdecimal() and int(text) in known else text


def _complaint(kind: str, word: str, place: str, vocabulary: Sequence[object]) -> str:
    near = ", ".join(map(repr, near_spellings(word, vocabulary)))
    return f"{kind} {word!r} is not in {place}" + (f"; near spellings: {near}" if near else "")


def _title(positive: list[Any], negative: list[Any]) -> str:
    return " ".join([" + ".join(map(str, positive)), *(f"- {word}" for word in negative)]).strip()


def _as_json(answers: dict[str, list[tuple[Any, float]]]) -> str:
    found = {
        title: [{"word": word, "similarity": float(similarity)} for word, similarity in neighbours]
        for title, neighbours in answers.items()
    }
    return json.dumps(found, indent=2, ensure_ascii=False)


def _as_text(answers: dict[str, list[tuple[Any, float]]]) -> str:
    blocks = []
    for title, neighbours in answers.items():
        width = max((len(str(word)) for word, _ in neighbours), default=0)
        lines = [f"  {str(word).ljust(width)}  {similarity:.3f}" for word, similarity in neighbours]
        blocks.append("\n".join([title, *lines]))
    return "\n\n".join(blocks)


def near_spellings(word: str, vocabulary: Sequence[object], most: int = 3) -> list[str]:
    """Return the words that are spelt most like `word`, upper and lower case being the same; the nearest first.

    The more frequent of two equally near words comes first.

    Parameters
    ----------
    vocabulary : sequence
        All words by falling count. Keys that are not strings are left out.
    """
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(word.casefold())  # the matcher stores the letters of its second word
    found: list[tuple[float, int, str]] = []
    for place, candidate in enumerate(_candidates(word, vocabulary)):
        matcher.set_seq1(candidate.casefold())
        # From the fastest ratio to the slowest: each is at least as large as the next.
        if matcher.real_quick_ratio() >= _LEAST_LIKENESS and matcher.quick_ratio() >= _LEAST_LIKENESS:
            found.append((-matcher.ratio(), place, candidate))
    return [candidate for likeness, _, candidate in sorted(found)[:most] if -likeness >= _LEAST_LIKENESS]


def _candidates(word: str, vocabulary: Sequence[object]) -> Iterator[str]:
    """Yield the frequent words of about the same length, and rarer ones that begin with the same letters as well."""
    least, most = len(word) - _MOST_EXTRA_LETTERS, len(word) + _MOST_EXTRA_LETTERS
    prefix = word[:_PREFIX_LETTERS].casefold()
    for place, key in enumerate(vocabulary):
        if not isinstance(key, str) or not least <= len(key) <= most:
            continue
        if place < _FREQUENT_WORDS or key[:_PREFIX_LETTERS].casefold() == prefix:
            yield key
