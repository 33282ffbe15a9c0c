"""The words of all sections in one range of hashes → one vocabulary of them, section after section."""

from __future__ import annotations

import numpy as np

from gensim_tfw2v.arrays import Int32Array
from gensim_tfw2v.corpus.encoded_words import NUMBERS_AND_TEXTS
from gensim_tfw2v.corpus.raw_vocabulary import lengthened
from gensim_tfw2v.corpus.sections.requests import Merged, MergeRequest
from gensim_tfw2v.corpus.sections.section_files import COUNTS, OWNED, PLACES, of_bucket, written_apart
from gensim_tfw2v.corpus.sections.section_words import words_in_bucket
from gensim_tfw2v.corpus.tokenizer import ids_and_line_lengths
from gensim_tfw2v.native.word_table import WordTable


def merge_bucket(request: MergeRequest) -> Merged:
    """Number the words of a bucket, and add up their counts. One section's words are in memory beside the bucket's."""
    table, counts = WordTable(), np.empty(0, np.int64)
    starts, places = [0], [0]
    are_numbers: list[bool] = []  # of the sections that own the words from `starts` on
    files = [of_bucket(request.folder, request.bucket, kind) for kind in (PLACES, OWNED, COUNTS)]
    with (
        written_apart(*files) as (places_path, owned_path, counts_path),
        places_path.open("wb") as places_file,
        owned_path.open("wb") as owned_file,
    ):
        for section, has_numbers in enumerate(request.have_numbers):
            texts, entries = words_in_bucket(request.folder, section, request.bucket, request.buckets)
            numbers, _ = ids_and_line_lengths(texts, table)
            counts = lengthened(counts, len(table))
            counts[numbers] += entries["count"]  # a section has each word once
            is_new = numbers >= starts[-1]
            _check_types(numbers[~is_new], has_numbers, starts, are_numbers)
            entries["number"].tofile(places_file)
            numbers.tofile(places_file)
            entries["number"][is_new].tofile(owned_file)
            starts.append(len(table))
            places.append(places[-1] + numbers.size)
            are_numbers.append(has_numbers)
        lines = [f"{word} {count}\n" for word, count in zip(table.words_from(0), counts.tolist(), strict=False)]
        counts_path.write_bytes("".join(lines).encode())
    return Merged(starts, places)


def _check_types(known: Int32Array, has_numbers: bool, starts: list[int], are_numbers: list[bool]) -> None:
    """Raise ValueError if words that appeared before are whole numbers there and texts here, or the reverse."""
    if known.size and not all(found == has_numbers for found in are_numbers):
        owners = np.searchsorted(starts, known, side="right") - 1
        if (np.array(are_numbers)[owners] != has_numbers).any():
            raise ValueError(NUMBERS_AND_TEXTS)
