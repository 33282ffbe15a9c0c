"""`tfw2v plan`: how much memory, network, time and money a training takes, and which tasks to start."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from gensim_tfw2v.arguments.argument import flag_of
from gensim_tfw2v.arguments.units import bits_a_second, byte_count, whole_count
from gensim_tfw2v.cli.arguments import add_switch, add_value, positive_number, read_by, real_number, whole_number
from gensim_tfw2v.cli.errors import CommandError, refusing
from gensim_tfw2v.cli.inputs import check_corpus
from gensim_tfw2v.planning.machines import DESIGNS
from gensim_tfw2v.planning.profiles import CALIBRATED, MODES, Profile, profile_named, write_calibrated

DESCRIPTION = """Say how much memory, network and time a training takes on one machine or on a cluster, what limits its
speed, and which commands start it. Nothing is trained, except by --calibrate, which measures this machine for about
two minutes."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v plan`."""
    count = whole_number(1)
    group = parser.add_argument_group("what is trained")
    add = group.add_argument
    add("--corpus", metavar="FILE", type=Path, help="plain text to sample, or a folder that `tfw2v encode` wrote")
    meaning = "words of the corpus, as 1e11 (default: those of --corpus); with --corpus, FILE is a part of the corpus"
    add("--words", metavar="N", type=read_by(whole_count), help=meaning)
    add("--vocabulary", metavar="N", type=read_by(whole_count), help="distinct words with a vector, without --corpus")
    add("--mode", choices=list(MODES), default="cbow-neg", help="model and objective (default: %(default)s)")
    add_value(group, "--vector-size", "N", count, 100, "numbers of a vector")
    add_value(group, "--window", "N", count, 5, "words on each side")
    add_value(group, "--negative", "N", count, 5, "negatives of a pair")
    add_value(group, "--sample", "X", real_number(0), 1e-3, "threshold of subsampling")
    add_value(group, "--min-count", "N", count, 5, "least count of a word")
    add_value(group, "--epochs", "N", count, 5, "passes over the corpus")
    add_value(group, "--batch-words", "N", count, None, "raw words of a block", "chosen")

    group = parser.add_argument_group("n-grams, or documents: the memory of one process")
    add_switch(group, "--subwords", "words have n-grams, as those of `tfw2v train --subwords`")
    add_value(group, "--min-n", "N", whole_number(0), 3, "characters of the shortest n-grams")
    add_value(group, "--max-n", "N", whole_number(0), 6, "characters of the longest n-grams")
    add_value(group, "--bucket", "N", whole_number(0), 2_000_000, "vectors that n-grams share")
    meaning = "documents with a vector of their own, as those of `tfw2v train --documents`; --mode sg-... is --dm 0"
    group.add_argument("--documents", metavar="N", type=read_by(whole_count), help=meaning)

    group = parser.add_argument_group("machines, all of them alike")
    add_value(group, "--workers", "N", count, None, "workers of a cluster", "as few as suffice")
    add_value(group, "--ps", "N", count, None, "parameter servers", "as few as suffice")
    group.add_argument("--distribution", choices=DESIGNS, help="design of the cluster (default: chosen)")
    add_value(group, "--cores", "X", positive_number, None, "cores of a machine", "as many as here")
    add_value(group, "--memory", "BYTES", read_by(byte_count), None, "memory of a machine, as 64GB", "as much as here")
    meaning = "bits a second of a machine's link, as 10Gbit"
    add_value(group, "--network", "RATE", read_by(bits_a_second), 10e9, meaning, "10Gbit")
    add_value(group, "--price-per-hour", "X", positive_number, None, "of a machine", "no cost is shown")
    add_value(group, "--hours", "X", positive_number, 24.0, "most time to take", "24")
    add_switch(group, "--one-machine", "all tasks of the cluster share one machine")

    group = parser.add_argument_group("costs and output")
    meaning = "whose measured costs: amx, avx2 or calibrated"
    shown = "calibrated if it is of this processor, or the stored one that is nearest"
    add_value(group, "--profile", "NAME", str, None, meaning, shown)
    add_switch(group, "--calibrate", "measure this machine's costs first and keep them for later plans")
    add_switch(group, "--json", "print JSON", "a table")


def run(arguments: argparse.Namespace) -> None:
    """Print the plan."""
    has_work = arguments.corpus is not None or arguments.words is not None
    if not has_work and not arguments.calibrate:
        raise CommandError("nothing to plan: give --corpus FILE, or --words N and --vocabulary N")
    if has_work:
        _check_sizes(arguments)
    profile = _profile(arguments)
    if not has_work:
        return
    from gensim_tfw2v.planning.planned_training import planned

    with refusing(ValueError):
        found = planned(vars(arguments), profile)
    print(json.dumps(found.as_dict(), indent=2) if arguments.json else found)


def _check_sizes(arguments: argparse.Namespace) -> None:
    from gensim_tfw2v.planning.planned_training import check_sizes

    if arguments.corpus is not None:
        check_corpus(arguments.corpus)
    with refusing(ValueError):
        check_sizes(vars(arguments), flag_of)


def _profile(arguments: argparse.Namespace) -> Profile:
    if arguments.calibrate:
        if arguments.profile not in (None, CALIBRATED):
            raise CommandError(f"--profile {arguments.profile!r} does not go with --calibrate; leave one of them out")
        from gensim_tfw2v.planning.calibration import calibrate

        profile = calibrate(lambda line: print(f"calibrating: {line}", file=sys.stderr))
        path = write_calibrated(profile)
        print(f"calibrated: {path}", file=sys.stderr)
        return profile
    with refusing(ValueError):
        return profile_named(arguments.profile)
