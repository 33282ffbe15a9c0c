"""`tfw2v evaluate`: scores a model's vectors on word similarities and analogies."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gensim_tfw2v.cli.arguments import whole_number
from gensim_tfw2v.cli.columns import lines_of_columns
from gensim_tfw2v.cli.models import add_format_arguments, vectors_of
from gensim_tfw2v.cli.score_files import check_score_files

if TYPE_CHECKING:  # help needs no NumPy, which this package imports
    from gensim_tfw2v.evaluation.scores import Scores

_MOST_UNKNOWN = 0.5  # if a larger share of a set is unknown, its score means little

DESCRIPTION = """Score a model's vectors on human judgements of word similarity and on analogies (a is to b as
c is to d). Without --pairs and --analogies, the sets that come with gensim are used: wordsim353, simlex999 and
questions-words."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v evaluate`."""
    parser.add_argument("model", type=Path, help="gensim model, keyed vectors, or word2vec text or binary file")
    parser.add_argument(
        "--pairs",
        metavar="FILE",
        action="append",
        help="score on this file of lines 'word TAB word TAB number'; may be repeated",
    )
    parser.add_argument(
        "--analogies",
        metavar="FILE",
        action="append",
        help="score on this file of lines of four words under headings ': section'; may be repeated",
    )
    add_format_arguments(parser)
    parser.add_argument(
        "--restrict-vocab",
        metavar="N",
        type=whole_number(1),
        default=300_000,
        help="use only the first N words of the model (default: %(default)s)",
    )
    parser.add_argument("--case-sensitive", action="store_true", help="distinguish upper from lower case (default: no)")
    parser.add_argument("--sections", action="store_true", help="show every section of the analogies (default: no)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table (default: no)")


def run(arguments: argparse.Namespace) -> None:
    """Score the model and print the scores."""
    from gensim_tfw2v.evaluation import score_vectors

    own_files = arguments.pairs is not None or arguments.analogies is not None
    check_score_files({"--pairs": arguments.pairs}, {"--analogies": arguments.analogies})
    vectors = vectors_of(arguments)
    scores = score_vectors(
        vectors,
        arguments.pairs or [] if own_files else None,
        arguments.analogies or [] if own_files else None,
        restrict_vocabulary=arguments.restrict_vocab,
        case_insensitive=not arguments.case_sensitive,
    )
    if arguments.json:
        print(json.dumps({"model": str(arguments.model), **scores.as_dict()}, indent=2))
    else:
        print(f"{arguments.model}: {len(vectors):,} words, {vectors.vector_size} dimensions")
        print(as_table(scores, arguments.sections))
        if note := note_on(scores):
            print(note)


def note_on(scores: Scores) -> str | None:
    """Return a note on the scores if few questions of some sets could be asked, which names these sets; else None."""
    shares = {score.name: score.unknown_share for score in scores.pairs}
    shares |= {score.name: score.unknown_share for score in scores.analogies}
    little_known = [name for name, share in shares.items() if share > _MOST_UNKNOWN]
    if not little_known:
        return None
    return (
        f"More than half of {', '.join(little_known)} have a word without a vector, and the scores of the rest say "
        "little: train on more text, or score on --pairs and --analogies of your own."
    )


def as_table(scores: Scores, sections: bool = False) -> str:
    """Return the scores as a table of text, in percent except for the numbers of questions."""
    rows: list[tuple[str, ...]] = [("set", "Spearman", "Pearson", "accuracy", "unknown", "asked")]
    for pair in scores.pairs:
        rows.append(
            (
                pair.name,
                _percent(pair.spearman),
                _percent(pair.pearson),
                "",
                _percent(pair.unknown_share),
                f"{pair.known:,} of {pair.total:,}",
            )
        )
    for analogy in scores.analogies:
        rows.append((analogy.name, *_analogy_cells(analogy)))
        for section in analogy.sections if sections else ():
            rows.append(("  " + section.name, *_analogy_cells(section)))
    rows.append(("mean", _percent(scores.mean, 1), "", "", "", ""))
    return "\n".join(lines_of_columns(rows, at_left=1))


def _analogy_cells(score: Any) -> tuple[str, ...]:
    """Return the cells after the name, for a set of analogies or one section of a set."""
    share = 1 - score.known / score.total if score.total else None
    return "", "", _percent(score.accuracy), _percent(share), f"{score.known:,} of {score.total:,}"


def _percent(value: float | None, factor: float = 100) -> str:
    return "-" if value is None else f"{factor * value:.1f}"
