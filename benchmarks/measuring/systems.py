"""The systems that can be measured. Each is an adapter that trains a model as a job says, and times it.

To add a program: write a function from (vectors file, job) to its command as `_word2vec_command` does, and an entry in
`SYSTEMS`; one in `programs.SOURCES` says how it is built.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from measuring import gensim_systems
from measuring.jobs import MODES, Job, Outcome
from measuring.memory import peak_rss_bytes
from measuring.programs import SOURCES, BuildError, build


class System(Protocol):
    """Something that trains word vectors."""

    modes: Collection[str]
    """The modes that it can train."""

    def missing(self) -> str | None:
        """Return why this system cannot run here, or None if it can."""

    def run(self, job: Job) -> Outcome:
        """Train as the job says."""
        ...


@dataclass(frozen=True)
class InProcess:
    """A class that trains in this process."""

    run: Callable[[Job], Outcome]
    modes: Collection[str] = tuple(MODES)

    def missing(self) -> str | None:
        return None


@dataclass(frozen=True)
class Program:
    """A program on the PATH that writes vectors in word2vec's text format."""

    name: str
    training: Callable[[Path, Job], list[str]]  # writes the vectors to this path
    counting: Callable[[Path, Job], list[str]] | None = None  # writes the vocabulary to this path + ".vocab"
    modes: Collection[str] = tuple(MODES)

    def missing(self) -> str | None:
        return None if shutil.which(self.name) else f"there is no program {self.name!r} on the PATH"

    def run(self, job: Job) -> Outcome:
        if job.input != "corpus_file" or job.curve:
            raise ValueError(f"{self.name} reads a corpus file only, and is scored at the end only")
        with tempfile.TemporaryDirectory() as folder:
            vectors = Path(folder) / "vectors.vec"
            counted = None if self.counting is None else _seconds_of(self.counting(vectors, job))
            trained = _seconds_of(self.training(vectors, job))
            trained_at = time.time()
            return Outcome(
                train_seconds=trained,
                raw_words=count_words(job.corpus),
                peak_rss_bytes=peak_rss_bytes(resource.RUSAGE_CHILDREN),
                trained_at=trained_at,
                build_vocab_seconds=counted,
                keyed_vectors=_read_vectors(vectors),
            )


def count_words(corpus: str) -> int:
    """Return the number of words in a text file."""
    with open(corpus, "rb") as lines:
        return sum(len(line.split()) for line in lines)


def _seconds_of(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def _read_vectors(path: Path) -> Any:
    from gensim.models import KeyedVectors

    return KeyedVectors.load_word2vec_format(str(path), unicode_errors="replace")


def _flags(settings: Mapping[str, Any]) -> list[str]:
    return [str(part) for name, value in settings.items() for part in (f"-{name}", value)]


def _rates(job: Job, **rates: float) -> dict[str, float]:
    """Return the settings of learning rate and subsampling, none where the program has its own."""
    return {} if job.own_rates else rates


def _word2vec_settings(vectors: Path, job: Job) -> dict[str, Any]:
    """Return the settings of word2vec.c, which pWord2Vec takes as well."""
    return {
        "train": job.corpus,
        "output": vectors,
        "negative": 0 if job.hierarchical_softmax else job.negative,
        "size": job.vector_size,
        "window": job.window,
        **_rates(job, sample=job.sample, alpha=job.alpha),
        "min-count": job.min_count,
        "iter": job.epochs,
        "threads": job.workers,
    }


def _word2vec_command(vectors: Path, job: Job) -> list[str]:
    model = {"cbow": int(not job.skip_gram), "hs": int(job.hierarchical_softmax)}
    own = {"read-vocab": f"{vectors}.vocab", "binary": 0, **model}
    return ["word2vec", *_flags(_word2vec_settings(vectors, job) | own)]


def _word2vec_counting(vectors: Path, job: Job) -> list[str]:
    """Return a command without -output, with which word2vec stops after counting the words."""
    return ["word2vec", "-train", job.corpus, "-save-vocab", f"{vectors}.vocab", "-min-count", str(job.min_count)]


def _pword2vec_command(vectors: Path, job: Job) -> list[str]:
    return ["pWord2Vec", *_flags(_word2vec_settings(vectors, job) | {"batch-size": 2 * job.window + 1})]


def _fasttext_command(vectors: Path, job: Job) -> list[str]:
    settings = {
        "input": job.corpus,
        "output": vectors.with_suffix(""),
        "loss": "hs" if job.hierarchical_softmax else "ns",
        "neg": job.negative,
        "dim": job.vector_size,
        "ws": job.window,
        **_rates(job, t=job.sample, lr=job.alpha),
        "minCount": job.min_count,
        **({} if job.subwords else {"maxn": 0}),  # without n-grams: plain word2vec
        "epoch": job.epochs,
        "thread": job.workers,
    }
    return ["fasttext", "skipgram" if job.skip_gram else "cbow", *_flags(settings)]


SYSTEMS: dict[str, System] = {
    "tfw2v": InProcess(gensim_systems.train_tfw2v),
    "tfw2v-cluster": InProcess(gensim_systems.train_on_cluster),
    "gensim": InProcess(gensim_systems.train_gensim),
    "word2vec": Program("word2vec", _word2vec_command, _word2vec_counting),
    "fasttext": Program("fasttext", _fasttext_command),
    "pword2vec": Program("pWord2Vec", _pword2vec_command, modes=("sg-neg",)),
}


def add_systems_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the systems, and the folder of programs."""
    add = parser.add_argument
    add("--systems", nargs="+", choices=list(SYSTEMS), default=["tfw2v", "gensim"], help="default: tfw2v gensim")
    programs = "folder of word2vec, fasttext and pWord2Vec; those that are asked for and are not there are built"
    add("--programs", type=Path, metavar="DIR", help=f"{programs} (needs pip, git and a C++ compiler; default: PATH)")


def able_to_run(systems: Iterable[str], say: Callable[[str], None], corpus_input: str = "corpus_file") -> list[str]:
    """Return the systems that can run here on a corpus that is given so, and say why others are left out."""
    able = []
    for system in systems:
        reason = SYSTEMS[system].missing()
        if reason is None and corpus_input != "corpus_file" and not isinstance(SYSTEMS[system], InProcess):
            reason = "it reads files only"
        if reason is None:
            able.append(system)
        else:
            say(f"leaving out {system}: {reason}")
    return able


def find_or_build(systems: Iterable[str], folder: Path, say: Callable[[str], None]) -> None:
    """Put a folder first on the PATH, and build there what it lacks of these systems' programs."""
    os.environ["PATH"] = f"{folder.resolve()}{os.pathsep}{os.environ['PATH']}"
    for system in map(SYSTEMS.__getitem__, systems):
        if isinstance(system, Program) and system.missing():
            say(f"building {system.name} in {folder} ...")
            try:
                build(system.name, folder, SOURCES[system.name])
            except BuildError as error:
                say(f"{system.name} cannot be built: {error}")
