"""A corpus of text → an encoded corpus, whose sections encoders make side by side.

1. Each section is encoded with a vocabulary of its own, in the order in which its words appear.
2. The vocabularies are merged, one range of hashes at a time, so that no process has all words in memory.
3. Ids follow the order of the words' first appearance: section after section, and word after word within each.
4. Each section is written to its place in the shards with these ids.

The files are those that one process writes, byte for byte, whatever the sections.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import IO

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Int32Array
from gensim_tfw2v.corpus.file_scan import ScanProgress
from gensim_tfw2v.corpus.sections.encoders import Encoder, answers_of
from gensim_tfw2v.corpus.sections.plan import Layout, shared_pages
from gensim_tfw2v.corpus.sections.requests import (
    Counted,
    CountRequest,
    Merged,
    MergeRequest,
    Section,
    WriteRequest,
)
from gensim_tfw2v.corpus.sections.section_files import (
    COUNTS,
    HASHES,
    IDS,
    LINES,
    OWNED,
    numbers_in,
    of_bucket,
    of_section,
)
from gensim_tfw2v.corpus.shard_writer import create_shard, read_checksums, write_headers, write_page_checksum
from gensim_tfw2v.corpus.shards import VOCABULARY_FILE
from gensim_tfw2v.files.checked_json import sha256_of

_FOLDER = "sections"  # of files that are removed when the corpus is complete


def encode_sections(
    sections: Sequence[Section],
    target: Path,
    encoders: Sequence[Encoder],
    shard_words: int,
    progress: ScanProgress | None = None,
) -> bool:
    """Write the encoded corpus of some sections to an empty folder; return False if they hold no words."""
    folder = target / _FOLDER
    folder.mkdir()
    counted = _count(sections, folder, encoders, progress)
    if not any(found.distinct for found in counted):
        return False
    merged = _merge(counted, folder, encoders)
    vocabulary = _write_vocabulary(target, folder, merged, len(sections))
    layout = Layout(sections, [found.parts for found in counted], shard_words)
    for shard, size in enumerate(layout.shards):
        create_shard(target, shard, size)
    requests = _write_requests(sections, target, folder, layout, counted, merged)
    for number, _ in answers_of(encoders, requests):
        for kind in (IDS, LINES):
            with contextlib.suppress(OSError):  # its space is needed, and all of the folder is removed later
                os.unlink(of_section(folder, number, kind))
    runs = [run for request in requests for run in (*request.words, *request.lengths)]
    for shard, page in sorted(shared_pages(runs)):
        write_page_checksum(target, shard, layout.shards[shard], page)
    shutil.rmtree(folder)
    checksums = [sha256_of(read_checksums(target, shard, size)) for shard, size in enumerate(layout.shards)]
    write_headers(target, vocabulary, layout.shards, checksums)
    return True


def _count(
    sections: Sequence[Section], folder: Path, encoders: Sequence[Encoder], progress: ScanProgress | None
) -> list[Counted]:
    found: dict[int, Counted] = {}
    words = sentences = 0
    requests = [CountRequest(str(folder), number, section) for number, section in enumerate(sections)]
    for number, answer in answers_of(encoders, requests):
        assert isinstance(answer, Counted)
        found[number] = answer
        words += sum(size.words for size in answer.parts)
        sentences += sum(size.sentences + 1 for size in answer.parts)
        if progress is not None:
            progress(words, max(counted.distinct for counted in found.values()), sentences)
    return [found[number] for number in range(len(sections))]


def _merge(counted: Sequence[Counted], folder: Path, encoders: Sequence[Encoder]) -> list[Merged]:
    buckets = _buckets_for(sum(found.distinct for found in counted), sum(encoder.width for encoder in encoders))
    have_numbers = [found.has_numbers for found in counted]
    requests = [MergeRequest(str(folder), bucket, buckets, have_numbers) for bucket in range(buckets)]
    found: dict[int, Merged] = {}
    for bucket, answer in answers_of(encoders, requests):
        assert isinstance(answer, Merged)
        found[bucket] = answer
    return [found[bucket] for bucket in range(buckets)]


def _buckets_for(words: int, encoders: int) -> int:
    """Return how many buckets keep encoders busy with so many words of sections, and are small enough for memory."""
    wanted = max(min(encoders, 1 + words // tuning.LEAST_BUCKET_WORDS), -(-words // tuning.MOST_BUCKET_WORDS))
    return min(wanted, HASHES)


def _write_vocabulary(target: Path, folder: Path, merged: Sequence[Merged], sections: int) -> str:
    """Give all words their ids, and write the vocabulary in this order; return its SHA-256.

    Only the words that appear first in one section are in memory at a time.
    """
    checksum, words = hashlib.sha256(), 0
    with contextlib.ExitStack() as stack:
        counts = [stack.enter_context(of_bucket(folder, bucket, COUNTS).open("rb")) for bucket in range(len(merged))]
        ids = [stack.enter_context(of_bucket(folder, bucket, IDS).open("wb")) for bucket in range(len(merged))]
        vocabulary = stack.enter_context((target / VOCABULARY_FILE).open("wb"))
        for section in range(sections):
            owned: list[Int32Array] = []  # numbers, in the section, of each bucket's words that appear first there
            for bucket, found in enumerate(merged):
                begin, end = found.starts[section], found.starts[section + 1]
                owned.append(numbers_in(of_bucket(folder, bucket, OWNED), np.int32, begin, end - begin))
            lines = _in_order(owned, words, ids, counts)
            vocabulary.write(lines)
            checksum.update(lines)
            words += sum(numbers.size for numbers in owned)
    return checksum.hexdigest()


def _in_order(
    owned: Sequence[Int32Array], first_id: int, ids: Sequence[IO[bytes]], counts: Sequence[IO[bytes]]
) -> bytes:
    """Write the ids of the words that appear first in a section, bucket by bucket; return their lines by id."""
    order = np.argsort(np.concatenate(owned), kind="stable")
    own_ids = np.empty(order.size, np.int32)
    own_ids[order] = np.arange(first_id, first_id + order.size, dtype=np.int32)
    lines: list[bytes] = []
    for numbers, of_bucket_ids, of_bucket_counts in zip(owned, ids, counts, strict=True):
        own_ids[len(lines) : len(lines) + numbers.size].tofile(of_bucket_ids)
        lines += islice(of_bucket_counts, numbers.size)
    return b"".join(map(lines.__getitem__, order.tolist()))


def _write_requests(
    sections: Sequence[Section],
    target: Path,
    folder: Path,
    layout: Layout,
    counted: Sequence[Counted],
    merged: Sequence[Merged],
) -> list[WriteRequest]:
    return [
        WriteRequest(
            str(folder),
            number,
            section,
            str(target),
            counted[number].distinct,
            layout.open_words[number],
            layout.runs_of_words(number),
            layout.runs_of_lengths(number),
            [[found.places[number], found.places[number + 1] - found.places[number]] for found in merged],
        )
        for number, section in enumerate(sections)
    ]
