"""`tfw2v neighbours`: prints the words nearest to a word, or to a sum of words minus others."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gensim_tfw2v.cli.arguments import whole_number
from gensim_tfw2v.cli.errors import CommandError
from gensim_tfw2v.cli.models import add_format_arguments, vectors_at
from gensim_tfw2v.cli.near_spellings import near_spellings

DESCRIPTION = """Print the words nearest to each WORD, with their cosine similarity. With --positive and --negative,
print the words nearest to a sum of words minus others, as in: --positive king woman --negative man. With --index,
search an index that `tfw2v index` wrote. For an unknown word, a line on standard error suggests near spellings, and
the exit code is 1. Other words are answered."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v neighbours`."""
    parser.add_argument("--index", metavar="FILE", type=Path, help="search this index, without MODEL (default: none)")
    parser.add_argument(
        "words",
        metavar="MODEL WORD",
        nargs="*",
        help="gensim model, keyed vectors, or word2vec text or binary file, and words whose neighbours to print",
    )
    parser.add_argument("--positive", metavar="WORD", nargs="+", default=[], help="words to add up")
    parser.add_argument("--negative", metavar="WORD", nargs="+", default=[], help="words to subtract")
    parser.add_argument(
        "--topn",
        metavar="N",
        type=whole_number(1),
        default=10,
        help="print this many neighbours of each (default: %(default)s)",
    )
    add_format_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table (default: no)")


def run(arguments: argparse.Namespace) -> None:
    """Print the neighbours of every word, and of the sum if there is one."""
    searched, words = _searched_and_words(arguments)
    typed: list[tuple[list[str], list[str]]] = [([word], []) for word in words]
    if arguments.positive or arguments.negative:
        typed.append((arguments.positive, arguments.negative))
    if not typed:
        raise CommandError("no WORD given, and no --positive or --negative")
    vectors = vectors_at(searched, arguments) if arguments.index is None else _opened_index(arguments)
    known = vectors.key_to_index
    queries = [
        ([_word(text, known) for text in positive], [_word(text, known) for text in negative])
        for positive, negative in typed
    ]
    answers = {
        _title(positive, negative): vectors.most_similar(positive, negative, topn=arguments.topn)
        for positive, negative in queries
        if all(word in known for word in positive + negative)
    }
    if answers or arguments.json:
        print(_as_json(answers) if arguments.json else _as_text(answers), flush=True)  # before the lines of errors
    asked = dict.fromkeys(word for positive, negative in queries for word in positive + negative)
    if unknown := [word for word in asked if word not in known]:
        place = f"{'model' if arguments.index is None else 'index'} {str(searched)!r}"
        complaints = (_complaint(word, place, vectors.index_to_key) for word in unknown)
        raise CommandError(*complaints, exit_code=1)


def _searched_and_words(arguments: argparse.Namespace) -> tuple[Path, list[str]]:
    """Return the file that is searched, a model or an index, and the words to look up."""
    if arguments.index is not None:
        return arguments.index, arguments.words
    if not arguments.words:
        raise CommandError("no MODEL given, and no --index")
    return Path(arguments.words[0]), arguments.words[1:]


def _opened_index(arguments: argparse.Namespace) -> Any:
    """Return an index, which answers as a model does."""
    if arguments.format or arguments.safe:
        flag = "--safe" if arguments.safe else "--format"
        raise CommandError(f"{flag} is for a MODEL; leave it out with --index")
    from gensim_tfw2v.integrations.neighbour_index import NeighbourIndex

    return NeighbourIndex.load(arguments.index)


def _word(text: str, known: Mapping[Any, int]) -> Any:
    """Return the word that a text stands for: a whole number where the model has numbers as words."""
    return int(text) if text not in known and text.isdecimal() and int(text) in known else text


def _complaint(word: str, place: str, vocabulary: Sequence[object]) -> str:
    """Return the line about a word that is not where it was looked for."""
    near = ", ".join(map(repr, near_spellings(word, vocabulary)))
    return f"word {word!r} is not in {place}" + (f"; near spellings: {near}" if near else "")


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
