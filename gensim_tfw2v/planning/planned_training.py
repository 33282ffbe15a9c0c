"""The sizes of a training and the machines for it, as a user gives them → its plan."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gensim_tfw2v import tuning
from gensim_tfw2v.arguments.rules import Choice as OneOf
from gensim_tfw2v.arguments.rules import Number, PositiveNumber, Rule, WholeNumber
from gensim_tfw2v.arguments.units import bits_a_second, byte_count
from gensim_tfw2v.arrays import Int64Array
from gensim_tfw2v.planning.choice import Choice, Wish, choose_plan
from gensim_tfw2v.planning.corpus_sample import estimate_corpus
from gensim_tfw2v.planning.frequencies import WordFrequencies
from gensim_tfw2v.planning.further_rows import NGRAM_DEFAULTS, PlannedMemory, are_asked, check_further
from gensim_tfw2v.planning.machines import DESIGNS, Machine
from gensim_tfw2v.planning.output import as_object, as_text
from gensim_tfw2v.planning.profiles import MODES, Profile, profile_named
from gensim_tfw2v.planning.tasks import fits_cache
from gensim_tfw2v.planning.workload import Workload
from gensim_tfw2v.runtime.cores import allowed_cores

_SETTINGS = ("mode", "vector_size", "window", "negative", "sample", "epochs", "min_count")  # of a Workload
_MOST_VOCABULARY = 2**31 - 1  # ids are int32
_RULES: dict[str, Rule] = {
    **dict.fromkeys(("vector_size", "window", "negative", "min_count", "epochs"), WholeNumber(1)),
    **dict.fromkeys(("words", "vocabulary", "documents"), WholeNumber(1, or_none=True)),
    **dict.fromkeys(("batch_words", "workers", "ps"), WholeNumber(1, or_none=True)),
    **dict.fromkeys(NGRAM_DEFAULTS, WholeNumber(0)),
    **dict.fromkeys(("cores", "price_per_hour"), PositiveNumber(or_none=True)),
    "mode": OneOf(tuple(MODES), or_none=False),
    "sample": Number(0),
    "distribution": OneOf(DESIGNS),
    "hours": PositiveNumber(),
}


@dataclass(frozen=True)
class PlannedTraining:
    """What `plan()` returns. ``print`` shows it as `tfw2v plan` does.

    Parameters
    ----------
    choice : Choice
        The tasks to start, with reasons and costs.
    corpus : str, optional
        The corpus that was sampled, if it is the whole corpus.
    """

    choice: Choice
    corpus: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as `tfw2v plan --json` prints it: in bytes, seconds and words a second."""
        return as_object(self.choice, self.corpus)

    def __str__(self) -> str:
        return as_text(self.choice, self.corpus)


def plan(
    corpus: str | os.PathLike[str] | None = None,
    *,
    words: float | None = None,
    vocabulary: float | None = None,
    mode: str = "cbow-neg",
    vector_size: int = 100,
    window: int = 5,
    negative: int = 5,
    sample: float = 1e-3,
    min_count: int = 5,
    epochs: int = 5,
    subwords: bool = False,
    min_n: int = 3,
    max_n: int = 6,
    bucket: int = 2_000_000,
    documents: float | None = None,
    batch_words: int | None = None,
    workers: int | None = None,
    ps: int | None = None,
    distribution: str | None = None,
    cores: float | None = None,
    memory: float | str | None = None,
    network: float | str = "10Gbit",
    price_per_hour: float | None = None,
    hours: float = 24.0,
    one_machine: bool = False,
    profile: str | None = None,
) -> PlannedTraining | PlannedMemory:
    """Return how much memory, network, time and money a training takes, and which tasks to start.

    Nothing is trained. ``docs/how-to/plan.md`` explains the answer.

    Parameters
    ----------
    corpus : str or os.PathLike, optional
        Plain text, of which a sample is read, or a folder that `encode_corpus` wrote.
    words, vocabulary : int, optional
        Words of the corpus, and distinct words with a vector, in place of a corpus. With `words`, `corpus` is a part
        of the corpus.
    mode : {"cbow-neg", "sg-neg", "cbow-hs", "sg-hs"}
        CBOW or skip-gram, with negative sampling or hierarchical softmax.
    vector_size, window, negative, sample, min_count, epochs, batch_words
        As for `TFWord2Vec`.
    subwords, min_n, max_n, bucket : optional
        Whether words have n-grams, as those of `TFFastText`, and which. Then memory is planned, for one process.
    documents : int, optional
        Documents with a vector of their own, as those of `TFDoc2Vec`. Then memory is planned, for one process. Modes of
        skip-gram are a distributed bag of words (``dm=0``).
    workers, ps, distribution : optional
        The workers and servers of a cluster, and its design: ``"downpour"`` or ``"averaging"``. By default the tasks
        that suffice.
    cores : float, optional
        Cores of a machine; all machines are alike. By default those of this one.
    memory : int or str, optional
        Bytes of a machine's memory, or a text such as ``"64GB"``. By default this machine's.
    network : float or str
        Bits a second of a machine's link, or a text such as ``"10Gbit"``.
    price_per_hour : float, optional
        Price of a machine. By default no cost is computed.
    hours : float
        The longest time that the training may take.
    one_machine : bool
        Whether all tasks of the cluster share one machine.
    profile : {"amx", "avx2", "calibrated"}, optional
        Measured costs. By default the calibrated ones if they are of this processor, or the stored ones that are
        nearest. ``tfw2v plan --calibrate`` measures a machine.

    Returns
    -------
    PlannedTraining or PlannedMemory
        `print` shows a table, and `as_dict()` has the numbers; what is not planned is None.

    Examples
    --------
    >>> from gensim_tfw2v import plan
    >>> found = plan(words=1e9, vocabulary=1e6, mode="sg-neg", cores=8, memory="64GB", profile="avx2")
    >>> found.as_dict()["design"]
    'one machine'
    """
    asked = {name: value for name, value in locals().items() if name != "profile"}
    asked |= {name: rule.plain(name, asked[name]) for name, rule in _RULES.items()}
    for name, read in (("memory", byte_count), ("network", bits_a_second)):
        asked[name] = _amount(name, asked[name], read)
    check_sizes(asked)
    return planned(asked, profile_named(profile))


def check_sizes(asked: Mapping[str, Any], named: Callable[[str], str] = str) -> None:
    """Raise ValueError if the arguments of `plan()` give no sizes, or impossible ones.

    Parameters
    ----------
    named : callable
        Returns how the error calls an argument.
    """
    check_further(asked, named)
    words, vocabulary, min_count = asked["words"], asked["vocabulary"], asked["min_count"]
    if asked["corpus"] is not None:
        if vocabulary is not None:
            raise ValueError(
                f"{named('vocabulary')} {vocabulary} does not go with {named('corpus')}, whose words are counted"
            )
        return
    if words is None:
        raise ValueError("nothing to plan: give a corpus, or words and vocabulary")
    if vocabulary is None:
        raise ValueError(
            f"{named('words')} {words} needs {named('vocabulary')}, or a {named('corpus')} whose words are counted"
        )
    if vocabulary > _MOST_VOCABULARY:
        raise ValueError(
            f"{named('vocabulary')} {vocabulary} is above {_MOST_VOCABULARY}, the most words that a model has"
        )
    if vocabulary * min_count > words:
        raise ValueError(
            f"{named('vocabulary')} {vocabulary} is impossible: so many words that occur {min_count} times or more "
            f"({named('min_count')}) need a corpus of {vocabulary * min_count} words, and {named('words')} is {words}"
        )


def planned(asked: Mapping[str, Any], profile: Profile) -> PlannedTraining | PlannedMemory:
    """Return the plan for checked arguments of `plan()`; raise ValueError if the corpus cannot be sampled."""
    one_machine = asked["one_machine"]
    machine = Machine(
        cores=asked["cores"] or allowed_cores(),
        memory=asked["memory"] or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        bits_a_second=None if one_machine else asked["network"],
        price_an_hour=asked["price_per_hour"],
    )
    is_part = asked["corpus"] is None or asked["words"] is not None
    corpus = None if is_part else os.fspath(asked["corpus"])
    workload, spelt = _workload(asked)
    if are_asked(asked):
        ngrams = {name: asked[name] for name in NGRAM_DEFAULTS} if asked["subwords"] else None
        letters, counts = spelt
        return PlannedMemory(workload, machine, corpus, ngrams, letters, counts, asked["documents"] or 0)
    wish = Wish(
        design=asked["distribution"],
        workers=asked["workers"],
        servers=asked["ps"],
        batch_words=asked["batch_words"],
        host_cores=machine.cores if one_machine else None,
        most_seconds=asked["hours"] * 3600,
    )
    return PlannedTraining(choose_plan(workload, machine, profile, wish), corpus)


def _workload(asked: Mapping[str, Any]) -> tuple[Workload, tuple[Int64Array, Int64Array] | tuple[None, None]]:
    """Return what is trained, and the letters and counts of the words that were read."""
    settings = {name: asked[name] for name in _SETTINGS}
    settings["adagrad"] = settings["epochs"] < tuning.EPOCHS_FOR_SGD  # as for text
    if asked["corpus"] is None:
        words = asked["words"]
        frequencies = WordFrequencies.of_law(asked["vocabulary"], words, asked["min_count"])
        return Workload(words=words, frequencies=frequencies, encoded=not fits_cache(words), **settings), (None, None)
    found = estimate_corpus(Path(asked["corpus"]), asked["min_count"], asked["words"])
    least, most = found.least_vocabulary, found.most_vocabulary
    workload = Workload(
        words=found.words,
        frequencies=found.frequencies,
        encoded=found.encoded or not fits_cache(found.words),
        vocabulary_range=None if least == most else (least, most),
        **settings,
    )
    return workload, (found.letters, found.counts)


def _amount(name: str, value: Any, read: Callable[[str], float]) -> float | None:
    """Return an amount as a number; a text has a unit."""
    if not isinstance(value, str):
        found: float | None = PositiveNumber(or_none=name == "memory").plain(name, value)
        return found
    try:
        return read(value)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
