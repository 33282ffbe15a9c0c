"""Words with n-grams, or documents, trained in one process → the memory. The time is not planned.

What a word costs with n-grams or with documents has not been measured, so there are no words a second here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gensim_tfw2v.arguments.argument import flag_of
from gensim_tfw2v.arguments.units import large, size
from gensim_tfw2v.arrays import Int64Array
from gensim_tfw2v.planning.machines import HERE, Machine
from gensim_tfw2v.planning.output import CHECKPOINT_SECONDS, table_text, train_command, workload_rows
from gensim_tfw2v.planning.tasks import memory_here
from gensim_tfw2v.planning.workload import Workload

NGRAM_DEFAULTS = {"min_n": 3, "max_n": 6, "bucket": 2_000_000}
ASSUMED_LETTERS = 8  # of a word of a vocabulary that is not known
_LIST_BYTES, _BUCKET_BYTES = 100, 4  # gensim's figures: an array of buckets for each word, and a bucket
_ROW_NUMBER = 8  # a row of a word's bag, as training has it
_TAG_BYTES = 200  # gensim's figure: of a tag that is a text
# Arguments that concern several machines or time, and their defaults.
_OF_TIME: dict[str, Any] = {**dict.fromkeys(("workers", "ps", "distribution", "price_per_hour", "batch_words"))}
_OF_TIME |= {"one_machine": False, "hours": 24.0}
_NO_TIME = (
    "time is not planned, because what a word costs {with_what} was not measured; train on a part of the corpus, and "
    "read words/s in the summary"
)


def are_asked(asked: Mapping[str, Any]) -> bool:
    """Return whether n-grams or documents are to be planned."""
    return bool(asked["subwords"]) or asked["documents"] is not None


def check_further(asked: Mapping[str, Any], named: Callable[[str], str]) -> None:
    """Raise ValueError if arguments of `plan()` do not go with n-grams or documents, or need them.

    Parameters
    ----------
    named : callable
        Returns how the error calls an argument.
    """
    if not asked["subwords"]:
        for name, default in NGRAM_DEFAULTS.items():
            if asked[name] != default:
                raise ValueError(f"{named(name)} {asked[name]} is for {named('subwords')}; leave it out")
    if not are_asked(asked):
        return
    what = named("subwords" if asked["subwords"] else "documents")
    if asked["subwords"] and asked["documents"] is not None:
        raise ValueError(f"{what} does not go with {named('documents')}; leave one of them out")
    for name, default in _OF_TIME.items():
        if asked[name] != default:
            raise ValueError(
                f"{named(name)} {asked[name]} does not go with {what}, planned for one process; leave it out"
            )


@dataclass(frozen=True)
class PlannedMemory:
    """What `plan()` returns for words with n-grams, or for documents. ``print`` shows it as `tfw2v plan` does."""

    workload: Workload
    machine: Machine
    corpus: str | None = None  # that was sampled, if it is the whole corpus
    ngrams: Mapping[str, int] | None = None  # min_n, max_n, bucket
    letters: Int64Array | None = None  # of the words of the vocabulary that were read
    counts: Int64Array | None = None  # of these words
    documents: int = 0

    @property
    def ngrams_of_words(self) -> tuple[float, float]:
        """How many n-grams a word has on average: a word of the vocabulary, and one of the text."""
        if self.ngrams is None or not self._bucket:
            return 0.0, 0.0
        letters = np.array([ASSUMED_LETTERS]) if self.letters is None else self.letters
        lengths = np.arange(max(self.ngrams["min_n"], 1), self.ngrams["max_n"] + 1)
        each = np.maximum(letters[:, None] + 2 - lengths + 1, 0).sum(axis=1)  # 2: the marks < and >
        # A single mark is no n-gram.
        each -= 2 * ((lengths == 1).any()) * (each > 0)
        return float(each.mean()), float(np.average(each, weights=self.counts))

    @property
    def used_rows(self) -> int:
        """Rows beside those of words that are trained, at most: n-grams that words share are counted for each."""
        bucket = self._bucket
        if not bucket:
            return self.documents
        ngrams = self.workload.vocabulary * self.ngrams_of_words[0]
        return min(bucket, math.ceil(bucket * -math.expm1(-ngrams / bucket)))

    @property
    def _bucket(self) -> int:
        """Rows that n-grams share; a model without n-grams has none."""
        ngrams = self.ngrams
        return 0 if ngrams is None or ngrams["max_n"] < ngrams["min_n"] else ngrams["bucket"]

    @property
    def model_bytes(self) -> dict[str, int]:
        """Bytes of the parts of the model, with names and values of gensim's `estimate_memory`."""
        workload, row = self.workload, self.workload.vector_bytes
        found = dict(workload.model_bytes)
        if self.ngrams is None:
            return found | {"doctag_lookup": _TAG_BYTES * self.documents, "doctag_syn0": self.documents * row}
        found["syn0_vocab"] = workload.vocabulary * row
        if bucket := self._bucket:
            lists = _LIST_BYTES + _BUCKET_BYTES * self.ngrams_of_words[0]
            found |= {"syn0_ngrams": bucket * row, "buckets_word": round(64 + workload.vocabulary * lists)}
        return found

    @property
    def memory(self) -> int:
        """Bytes of the process at its peak: the model, copies of the trained rows, and what words alone need."""
        row, words = self.workload.vector_bytes, self.workload.vocabulary
        further = sum(self.model_bytes.values()) - sum(self.workload.model_bytes.values())
        copies = float(self.used_rows * row)
        if self.ngrams is not None:  # words' vectors, which are made at the end, and the numbers of each word's rows
            copies += words * row + words * (1 + self.ngrams_of_words[0]) * _ROW_NUMBER
        return round(memory_here(self.workload, self.machine.cores) + further + copies)

    @property
    def checkpoint_bytes(self) -> int:
        """Bytes of a checkpoint, at most."""
        return self.workload.table_bytes + self.used_rows * self.workload.vector_bytes

    @property
    def warnings(self) -> list[str]:
        """What does not fit."""
        most = self.machine.memory
        if most is None or self.memory <= most:
            return []
        return [f"the process needs {self.memory / 1e9:,.1f} GB, and a machine has {most / 1e9:,.1f}"]

    @property
    def command(self) -> str:
        """The command that trains."""
        workload = self.workload
        command = train_command(workload, self.corpus, None, "trained.model")
        if self.ngrams is None:
            command = command.replace(" --sg", " --dm 0") + " --documents"
            # The command's default is that of `Workload` with words, and another one with documents.
            command += f" --epochs {workload.epochs}" if workload.epochs == Workload.epochs else ""
        else:
            changed = {name: value for name, value in self.ngrams.items() if value != NGRAM_DEFAULTS[name]}
            command += " ".join([" --subwords", *(f"{flag_of(name)} {changed[name]}" for name in changed)])
        return f"{command} --workers {self.machine.whole_cores}"

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as `tfw2v plan --json` prints it, in bytes. What is not planned is None."""
        of_vocabulary, of_text = self.ngrams_of_words
        return {
            "design": HERE,
            "cores": self.machine.cores,
            "words": self.workload.words,
            "vocabulary": self.workload.vocabulary,
            "vocabulary_range": self.workload.vocabulary_range,
            "documents": self.documents or None,
            "ngrams_of_a_word": None if self.ngrams is None else of_vocabulary,
            "rows_a_word": None if self.ngrams is None else 1 + of_text,
            "further_rows": self.used_rows,
            "memory": {"process": self.memory},
            "model": self.model_bytes,
            "checkpoint_bytes": self.checkpoint_bytes,
            "checkpoint_bytes_a_second": self.checkpoint_bytes / CHECKPOINT_SECONDS,
            "fits": not self.warnings,
            "words_a_second": None,
            "seconds": None,
            "cost": None,
            "reasons": [self._reason],
            "warnings": self.warnings,
            "commands": [self.command],
        }

    def __str__(self) -> str:
        return table_text(self._rows(), [self._reason], self.warnings, [self.command])

    @property
    def _reason(self) -> str:
        return _NO_TIME.format(with_what="with documents" if self.ngrams is None else "with n-grams")

    def _rows(self) -> Iterator[tuple[str, str]]:
        workload, numbers = self.workload, self.workload.vector_size
        yield from workload_rows(workload)
        parts = f"{large(workload.vocabulary)} words"
        parts += f", {large(self.documents)} documents" if self.ngrams is None else ""
        parts += f", {large(self._bucket)} buckets of n-grams" if self.ngrams is not None else ""
        yield "model", f"{parts} of {numbers} numbers, {size(sum(self.model_bytes.values()))}"
        yield "design", f"one process on {self.machine.cores:g} cores"
        yield "memory of the process", size(self.memory)
        if self.ngrams is not None:
            of_vocabulary, of_text = self.ngrams_of_words
            known = f"assuming {ASSUMED_LETTERS} letters a word" if self.letters is None else "counted in the corpus"
            yield "n-grams of a word", f"{of_vocabulary:.1f} in the vocabulary, {of_text:.1f} in the text, {known}"
            yield "rows a word", f"{1 + of_text:.1f} are read and moved, 1 without n-grams"
        yield "words/s, time, cost", "not planned"
        yield "checkpoint", f"at most {size(self.checkpoint_bytes)}, one every ten minutes"
