"""The settings of one measurement, in Python and as command-line arguments, and its results."""

from __future__ import annotations

import argparse
import dataclasses
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from measuring.checkout import HERE, revision_from

# Mode → gensim's `sg` and `hs`; `negative` is 0 where hs is 1.
MODES: dict[str, tuple[int, int]] = {"sg-neg": (1, 0), "cbow-neg": (0, 0), "sg-hs": (1, 1), "cbow-hs": (0, 1)}
INPUTS = ("corpus_file", "iterable", "numbers")  # a list of sentences of strings, or of ints
# The class's own choices. This module is read before a run imports the package, which may be that of another commit.
SCHEDULES = ("linear",)
DTYPES = ("bfloat16", "float32")
OPTIMIZERS = ("sgd", "adagrad")


@dataclass(frozen=True)
class Job:
    """One training run of one system. None stands for the system's own default."""

    system: str
    corpus: str
    mode: str = "sg-neg"
    vector_size: int = 100
    epochs: int = 5
    workers: int = 1
    input: str = "corpus_file"
    window: int = 5
    negative: int = 5
    min_count: int = 5
    sample: float = 1e-3
    alpha: float = 0.025
    seed: int = 1
    batch_tokens: int | None = None
    run_tokens: int | None = None
    shared_negatives: int | None = None
    update_bound: float | None = None
    cluster_dtype: str | None = None  # number format of the rows that a cluster sends
    compute_dtype: str | None = None  # number format of matrix products
    schedule: str | None = None  # how our learning rate falls
    optimizer: str | None = None  # how our vectors move against a gradient
    device: str | None = None  # that trains our class: of this process, or of each worker
    draws: str | None = None  # "host" or "device": where our class draws windows, subsampling and negatives
    reproducible: bool | None = None  # whether our vectors are equal for any number of workers
    curve: bool = False  # score after every epoch
    scores: bool = True  # score after training
    revision: str = HERE  # of our package
    distribution: str | None = None  # how the tasks of a cluster train together
    round_words: int | None = None  # raw words of a round, where the distribution has rounds
    vectors_file: str | None = None  # where the trained vectors are saved, in gensim's format
    cores: int | None = None  # that our class takes the machine to have; it never has more threads
    emulated_threads: int | None = None  # of our class, emulated in one thread
    calls: int = 1  # of train(), each with as many epochs, through which the learning rate falls evenly
    graph: str | None = None  # file that `graphs.write_graph` wrote: vectors of its nodes are scored
    subwords: bool = False  # the classes are gensim's FastText and our TFFastText
    left_out: bool = False  # every other word of the sets of word pairs is not in the vocabulary
    own_rates: bool = False  # programs take their own `alpha` and `sample`; their other defaults are gensim's anyway

    @property
    def skip_gram(self) -> bool:
        return MODES[self.mode][0] == 1

    @property
    def hierarchical_softmax(self) -> bool:
        return MODES[self.mode][1] == 1

    def gensim_arguments(self) -> dict[str, Any]:
        """Return the arguments of gensim's constructor."""
        return {
            "sg": int(self.skip_gram),
            "hs": int(self.hierarchical_softmax),
            "negative": 0 if self.hierarchical_softmax else self.negative,
            **{name: getattr(self, name) for name in _GENSIM_NAMES},
        }

    def own_arguments(self) -> dict[str, Any]:
        """Return the further arguments of our constructor that this job sets."""
        return {name: value for name in _OWN_NAMES if (value := getattr(self, name)) is not None}

    def to_arguments(self) -> list[str]:
        """Return the arguments of `one_run.py` that stand for this job."""
        arguments = [self.system, self.corpus]
        for entry in dataclasses.fields(self)[2:]:
            value = getattr(self, entry.name)
            flag = "--" + entry.name.replace("_", "-")
            if entry.name == "scores":
                arguments += [] if value else ["--no-scores"]
            elif isinstance(value, bool):
                arguments += [flag] if value else []
            elif value is not None:
                arguments += [flag, str(value)]
        return arguments


_GENSIM_NAMES = ("vector_size", "epochs", "workers", "window", "min_count", "sample", "alpha", "seed")
TUNING = ("batch_tokens", "run_tokens", "shared_negatives", "update_bound")
_OWN_NAMES = (*TUNING, "cluster_dtype", "compute_dtype", "schedule", "optimizer", "device", "reproducible",
              "distribution", "round_words")  # fmt: skip


@dataclass
class Outcome:
    """The results of a run. Times are in seconds; None where a system does not report a number."""

    train_seconds: float
    raw_words: int  # of one epoch
    peak_rss_bytes: int  # this process's own peak, or the program's, until training ended
    trained_at: float  # time.time() when training ended
    build_vocab_seconds: float | None = None
    tensorflow_import_seconds: float | None = None  # within train_seconds
    first_graph_seconds: float | None = None  # within train_seconds
    pairs_per_word: float | None = None  # trained for each raw word
    bytes_per_word: float | None = None  # sent between a cluster's tasks for each raw word, as they report
    loopback_bytes_per_word: float | None = None  # the same as the interface counts it, from the start of the tasks
    keyed_vectors: Any = None
    curve: list[dict[str, float | None]] = field(default_factory=list)  # seconds and score after every epoch


def add_corpus_argument(parser: argparse.ArgumentParser, **optional: Any) -> None:
    """Add the corpus, a file that must exist; `optional` has argparse's settings where it may be left out."""

    def readable_file(path: str) -> str:
        if not os.path.isfile(path):
            raise argparse.ArgumentTypeError(f"there is no file {path!r}")
        return path

    parser.add_argument("corpus", type=readable_file, help="text file of one sentence a line", **optional)


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Add gensim's settings of what a model learns."""
    default = Job("", "")
    add = parser.add_argument
    add("--window", type=int, default=default.window, metavar="N", help="gensim's window (default 5)")
    add("--negative", type=int, default=default.negative, metavar="N", help="gensim's negative (default 5)")
    add("--min-count", type=int, default=default.min_count, metavar="N", help="gensim's min_count (default 5)")
    add("--sample", type=float, default=default.sample, metavar="X", help="gensim's sample (default 1e-3)")
    add("--alpha", type=float, default=default.alpha, metavar="X", help="starting learning rate (default 0.025)")


def add_training_arguments(parser: argparse.ArgumentParser, **several_epochs: Any) -> None:
    """Add the settings of a run; `several_epochs` has argparse's settings for more than one number of epochs."""
    add = parser.add_argument
    add(
        "--epochs",
        type=number_from(1),
        metavar="N",
        help="passes over the corpus (default 5)",
        **({"default": Job("", "").epochs} | several_epochs),
    )
    add("--input", choices=INPUTS, default="corpus_file", help="how the classes get the corpus (default corpus_file)")
    add("--no-scores", dest="scores", action="store_false", help="measure speed only")
    add_graph_argument(parser)
    add("--subwords", action="store_true", help="train words with n-grams: gensim's FastText, TFFastText, fasttext")
    left_out = "leave every other word of the sets out of the vocabulary, and score pairs with these (needs --subwords)"
    add("--left-out", action="store_true", help=left_out)
    add("--schedule", choices=SCHEDULES, help="how our learning rate falls (default: as gensim's does)")
    add_model_arguments(parser)


def add_graph_argument(parser: argparse.ArgumentParser) -> None:
    """Add the graph whose nodes are the words."""
    help_text = "score vectors of a graph's nodes, which `walks.py --keep` has written"
    parser.add_argument("--graph", metavar="FILE", help=help_text)


def add_dtype_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the number formats of matrix products and of rows that a cluster sends."""
    add = parser.add_argument
    add("--compute-dtype", choices=DTYPES, help="number format of our matrix products (default: chosen)")
    add("--cluster-dtype", choices=DTYPES, help="number format of a cluster's rows (default: chosen)")


def add_distribution_arguments(parser: argparse.ArgumentParser) -> None:
    """Add how the tasks of a cluster train together; the class refuses names that it does not know."""
    add = parser.add_argument
    add("--distribution", metavar="NAME", help="how the tasks of a cluster train together (default: downpour)")
    add("--round-words", type=number_from(1), metavar="N", help="raw words of a round (default: chosen)")


def add_revision_argument(parser: argparse.ArgumentParser, **several: Any) -> None:
    """Add the commit that our package is taken from; `several` has argparse's settings for more than one."""
    parser.add_argument(
        "--revision",
        type=revision_from,
        metavar="COMMIT",
        help="take the package from this commit of the repository (default: here, the files as they are)",
        **({"default": HERE} | several),
    )


def number_from(least: float, kind: Callable[[str], float] = int) -> Callable[[str], float]:
    """Return a function that reads a number and refuses those below `least`."""

    def read(text: str) -> float:
        number = kind(text)
        if number < least:
            raise argparse.ArgumentTypeError(f"{text} is less than {least:g}")
        return number

    read.__name__ = "number"  # argparse names it in its error message
    return read


def usable_cores() -> int:
    """Return the number of cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def job_from(arguments: argparse.Namespace, **others: Any) -> Job:
    """Return a job with the parsed settings, replaced by those in `others`."""
    names = {entry.name for entry in dataclasses.fields(Job)}
    return Job(**{**{name: value for name, value in vars(arguments).items() if name in names}, **others})
