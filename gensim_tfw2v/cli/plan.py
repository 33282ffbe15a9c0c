"""`tfw2v plan`: how much memory, network, time and money a training takes, and which tasks to start."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gensim_tfw2v.cli.arguments import positive_number, read_by, real_number, whole_number
from gensim_tfw2v.cli.corpora import check_corpus
from gensim_tfw2v.cli.errors import CommandError
from gensim_tfw2v.planning.machines import DESIGNS
from gensim_tfw2v.planning.profiles import CALIBRATED, MODES, Profile, profile_named, write_calibrated
from gensim_tfw2v.planning.units import bits_a_second, byte_count, whole_count

if TYPE_CHECKING:
    from gensim_tfw2v.planning.choice import Choice
    from gensim_tfw2v.planning.corpus_sample import CorpusEstimate
    from gensim_tfw2v.planning.workload import Workload

DESCRIPTION = """Say how much memory, network and time a training takes on one machine or on a cluster, what limits its
speed, and which commands start it. Nothing is trained, except by --calibrate, which measures this machine for about
two minutes."""
_MOST_VOCABULARY = 2**31 - 1  # ids are int32


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v plan`."""
    _add_training(parser.add_argument_group("what is trained"))
    _add_machines(parser.add_argument_group("machines, all of them alike"))
    group = parser.add_argument_group("costs and output")
    group.add_argument(
        "--profile",
        metavar="NAME",
        help="whose measured costs: amx, avx2 or calibrated (default: calibrated if it is of this processor, or the "
        "stored one that is nearest)",
    )
    group.add_argument(
        "--calibrate",
        action="store_true",
        help="measure this machine's costs first and keep them for later plans (default: no)",
    )
    group.add_argument("--json", action="store_true", help="print JSON (default: a table)")


def _add_training(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--corpus", metavar="FILE", type=Path, help="plain text to sample, or a folder that `tfw2v encode` wrote")
    add(
        "--words",
        metavar="N",
        type=read_by(whole_count),
        help="words of the corpus, as 1e11 (default: those of --corpus); with --corpus, FILE is a part of the corpus",
    )
    add("--vocabulary", metavar="N", type=read_by(whole_count), help="distinct words with a vector, without --corpus")
    add("--mode", choices=list(MODES), default="cbow-neg", help="model and objective (default: %(default)s)")
    add("--vector-size", metavar="N", type=whole_number(1), default=100, help="numbers of a vector (default: 100)")
    add("--window", metavar="N", type=whole_number(1), default=5, help="words on each side (default: 5)")
    add("--negative", metavar="N", type=whole_number(1), default=5, help="negatives of a pair (default: 5)")
    add("--sample", metavar="X", type=real_number(0), default=1e-3, help="threshold of subsampling (default: 0.001)")
    add("--min-count", metavar="N", type=whole_number(1), default=5, help="least count of a word (default: 5)")
    add("--epochs", metavar="N", type=whole_number(1), default=5, help="passes over the corpus (default: 5)")
    add("--batch-words", metavar="N", type=whole_number(1), help="raw words of a block (default: chosen)")


def _add_machines(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--workers", metavar="N", type=whole_number(1), help="workers of a cluster (default: as few as suffice)")
    add("--ps", metavar="N", type=whole_number(1), help="parameter servers (default: as few as suffice)")
    add("--distribution", choices=DESIGNS, help="design of the cluster (default: chosen)")
    add("--cores", metavar="X", type=positive_number, help="cores of a machine (default: as many as here)")
    add(
        "--memory",
        metavar="BYTES",
        type=read_by(byte_count),
        help="memory of a machine, as 64GB (default: as much as here)",
    )
    add(
        "--network",
        metavar="RATE",
        type=read_by(bits_a_second),
        default=10e9,
        help="bits a second of a machine's link, as 10Gbit (default: 10Gbit)",
    )
    add("--price-per-hour", metavar="X", type=positive_number, help="of a machine (default: no cost is shown)")
    add("--hours", metavar="X", type=positive_number, default=24.0, help="most time to take (default: 24)")
    add("--one-machine", action="store_true", help="all tasks of the cluster share one machine (default: no)")


def run(arguments: argparse.Namespace) -> None:
    """Print the plan."""
    has_work = arguments.corpus is not None or arguments.words is not None
    if not has_work and not arguments.calibrate:
        raise CommandError("nothing to plan: give --corpus FILE, or --words N and --vocabulary N")
    if has_work:
        _check_sizes(arguments)
    profile = _profile(arguments)
    if has_work:
        choice = _choice(arguments, profile)
        _show(choice, arguments)


def _check_sizes(arguments: argparse.Namespace) -> None:
    """Raise an error for sizes that no corpus has."""
    words, vocabulary = arguments.words, arguments.vocabulary
    if arguments.corpus is not None:
        check_corpus(arguments.corpus)
        if vocabulary is not None:
            raise CommandError(f"--vocabulary {vocabulary} does not go with --corpus, whose words are counted")
        return
    if vocabulary is None:
        raise CommandError(f"--words {words} needs --vocabulary, or a --corpus whose words are counted")
    if vocabulary > _MOST_VOCABULARY:
        raise CommandError(f"--vocabulary {vocabulary} is above {_MOST_VOCABULARY}, the most words that a model has")
    if vocabulary * arguments.min_count > words:
        raise CommandError(
            f"--vocabulary {vocabulary} is impossible: so many words that occur {arguments.min_count} times or more "
            f"(--min-count) need a corpus of {vocabulary * arguments.min_count} words, and --words is {words}"
        )


def _profile(arguments: argparse.Namespace) -> Profile:
    if arguments.calibrate:
        if arguments.profile not in (None, CALIBRATED):
            raise CommandError(f"--profile {arguments.profile!r} does not go with --calibrate; leave one of them out")
        from gensim_tfw2v.planning.calibration import calibrate

        profile = calibrate(lambda line: print(f"calibrating: {line}", file=sys.stderr))
        path = write_calibrated(profile)
        print(f"calibrated: {path}", file=sys.stderr)
        return profile
    try:
        return profile_named(arguments.profile)
    except ValueError as error:
        raise CommandError(str(error)) from error


def _choice(arguments: argparse.Namespace, profile: Profile) -> Choice:
    from gensim_tfw2v.planning.choice import Wish, choose_plan
    from gensim_tfw2v.planning.machines import Machine
    from gensim_tfw2v.runtime.cores import allowed_cores

    machine = Machine(
        cores=arguments.cores or allowed_cores(),
        memory=arguments.memory or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        bits_a_second=None if arguments.one_machine else arguments.network,
        price_an_hour=arguments.price_per_hour,
    )
    wish = Wish(
        design=arguments.distribution,
        workers=arguments.workers,
        servers=arguments.ps,
        batch_words=arguments.batch_words,
        host_cores=machine.cores if arguments.one_machine else None,
        most_seconds=arguments.hours * 3600,
    )
    return choose_plan(_workload(arguments), machine, profile, wish)


def _workload(arguments: argparse.Namespace) -> Workload:
    from gensim_tfw2v.planning.frequencies import WordFrequencies
    from gensim_tfw2v.planning.tasks import fits_cache
    from gensim_tfw2v.planning.workload import Workload

    words, is_encoded = arguments.words, False
    vocabulary_range: tuple[int, int] | None = None
    if arguments.corpus is None:
        frequencies = WordFrequencies.of_law(arguments.vocabulary, words, arguments.min_count)
    else:
        found = _estimate(arguments)
        words, frequencies, is_encoded = found.words, found.frequencies, found.encoded
        if found.least_vocabulary != found.most_vocabulary:
            vocabulary_range = found.least_vocabulary, found.most_vocabulary
    return Workload(
        words=words,
        frequencies=frequencies,
        mode=arguments.mode,
        vector_size=arguments.vector_size,
        window=arguments.window,
        negative=arguments.negative,
        sample=arguments.sample,
        epochs=arguments.epochs,
        min_count=arguments.min_count,
        encoded=is_encoded or not fits_cache(words),
        vocabulary_range=vocabulary_range,
    )


def _estimate(arguments: argparse.Namespace) -> CorpusEstimate:
    from gensim_tfw2v.planning.corpus_sample import estimate_corpus

    try:
        return estimate_corpus(arguments.corpus, arguments.min_count, arguments.words)
    except ValueError as error:
        raise CommandError(str(error)) from error


def _show(choice: Choice, arguments: argparse.Namespace) -> None:
    from gensim_tfw2v.planning.output import as_object, as_text

    is_part = arguments.corpus is None or arguments.words is not None
    corpus = None if is_part else str(arguments.corpus)
    print(json.dumps(as_object(choice, corpus), indent=2) if arguments.json else as_text(choice, corpus))
