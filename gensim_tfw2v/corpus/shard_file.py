"""The file of one shard: ids and sentence lengths, in pages with a checksum each.

File:  a header of 72 bytes: mark, fingerprint of the corpus, words, sentences, number of the shard, checksum
       the ids of all words, then the lengths of all sentences, as little-endian int32
       the checksum of each page, as two little-endian uint64

A page is 1,024 of these ids and lengths; the last page has the rest, and zeros. A span is checked without reading the
rest of the file. In the former format the header has 64 bytes, without number and checksum, and there are no pages.

The checksum is Fletcher's: the sum of the page's 512 words of 64 bits, and the sum of these words multiplied by 1, 2, 3
and so on, both modulo 2^64 and inverted. A change of one word changes the first sum, and an exchange of two words the
second. The header has a CRC-32.
"""

from __future__ import annotations

import os
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gensim_tfw2v.arrays import Int32Array
from gensim_tfw2v.native.functions import call

NUMBER = np.dtype("<i4")
PAGE_BYTES = 4096
NUMBERS_PER_PAGE = PAGE_BYTES // NUMBER.itemsize
HEADER_BYTES = 72
WHAT_TO_DO = "fetch the file again, or encode the corpus anew"

# Marks, which differ in many bits from those of the former format.
_MARK, _FORMER_MARK = b"\x8bids tfw2v 2\r\n\0\xff", b"tfw2v shard 1\0\0\0"
_HEADER = struct.Struct("<16s32sQQI")
_HEADER_CHECKSUM = struct.Struct("<I")
_WORD = np.dtype("<u8")
PAGE_CHECKSUM_BYTES = 2 * _WORD.itemsize
_FORMER_HEADER = struct.Struct("<16s32sQQ")


class EncodedCorpusError(ValueError):
    """A folder or file that is not an encoded corpus, or is damaged."""


@dataclass(frozen=True)
class ShardSize:
    """Words and sentences of a shard. Each piece of an overlong sentence counts as a sentence."""

    words: int
    sentences: int

    @property
    def data_bytes(self) -> int:
        """Bytes of all ids and lengths."""
        return NUMBER.itemsize * (self.words + self.sentences)


def shard_path(folder: Path, shard: int) -> Path:
    """Return the file of a shard."""
    return folder / f"shard-{shard:05d}.ids"


def header_of_shard(size: ShardSize, shard: int, fingerprint: str) -> bytes:
    """Return the first bytes of a shard's file."""
    fields = _HEADER.pack(_MARK, bytes.fromhex(fingerprint), size.words, size.sentences, shard)
    return fields + _HEADER_CHECKSUM.pack(zlib.crc32(fields))


def page_checksums(data: bytes) -> bytes:
    """Return the checksums of all pages of `data`, which begins with a page."""
    checksums = np.empty(checksum_bytes(len(data)) // _WORD.itemsize, np.uint64)
    call("page_checksums", np.frombuffer(data, np.uint8), PAGE_BYTES, checksums)
    return checksums.tobytes()


class OpenShard:
    """The open file of a shard, whose header and size have been checked. Pages are checked when they are read.

    Parameters
    ----------
    folder : Path
        The encoded corpus.
    shard : int
        The shard's number.
    fingerprint : str
        That of the corpus, in hexadecimal.
    has_checksums : bool
        False in the former format.
    """

    def __init__(self, folder: Path, shard: int, fingerprint: str, has_checksums: bool) -> None:
        self._path = shard_path(folder, shard)
        self._shard, self._fingerprint, self._has_checksums = shard, fingerprint, has_checksums
        self._data_begin = HEADER_BYTES if has_checksums else _FORMER_HEADER.size
        try:
            self._file = self._path.open("rb", buffering=0)
        except OSError as error:
            place = "an encoded corpus has to be where all workers that read it see it under this path"
            raise with_path(error, f"{place}; {WHAT_TO_DO}", self._path) from None
        try:
            self.size = self._checked_size()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> OpenShard:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def damaged(self, why: str) -> EncodedCorpusError:
        """Return the error for a damaged shard."""
        return EncodedCorpusError(f"{self._path} is no shard of this corpus: {why}; {WHAT_TO_DO}")

    def checksums(self) -> bytes:
        """Return the checksums of all pages."""
        return self._bytes(self._data_begin + self.size.data_bytes, checksum_bytes(self.size.data_bytes))

    def ids(self, first: int, end: int, vocabulary: int) -> Int32Array:
        """Return the ids of words `first` to `end`; raise an error unless all are those of so many words."""
        if not 0 <= first <= end <= self.size.words:
            raise self.damaged(f"it has {self.size.words} words, and not those from {first} to {end}")
        ids = self._numbers(first, end)
        least, largest, _ = _extremes(ids)
        if ids.size and not 0 <= least <= largest < vocabulary:
            raise self.damaged("it holds ids of no word")
        return ids

    def lengths(self, first: int, end: int, words: int) -> Int32Array:
        """Return the number of words of sentences `first` to `end`; raise an error unless these are `words` in all."""
        if not 0 <= first <= end <= self.size.sentences:
            raise self.damaged(f"it has {self.size.sentences} sentences, and not those from {first} to {end}")
        lengths = self._numbers(self.size.words + first, self.size.words + end)
        least, _, total = _extremes(lengths)
        if lengths.size and least < 1:
            raise self.damaged("it holds sentences of less than one word")
        if total != words:
            raise self.damaged("its sentences do not end where its words do")
        return lengths

    def _checked_size(self) -> ShardSize:
        size = self._size_in_header() if self._has_checksums else self._size_in_former_header()
        expected = self._data_begin + size.data_bytes
        if self._has_checksums:
            expected += checksum_bytes(size.data_bytes)
        there = os.fstat(self._file.fileno()).st_size
        if there != expected:
            raise self.damaged(f"it has {there} bytes instead of {expected}")
        return size

    def _size_in_header(self) -> ShardSize:
        header = self._header(HEADER_BYTES, _MARK)
        _, fingerprint, words, sentences, shard = _HEADER.unpack_from(header)
        if zlib.crc32(header[: _HEADER.size]) != _HEADER_CHECKSUM.unpack_from(header, _HEADER.size)[0]:
            raise self.damaged("its header does not fit the checksum")
        if fingerprint.hex() != self._fingerprint:
            raise self.damaged("it was encoded with another vocabulary or another text")
        if shard != self._shard:
            raise self.damaged(f"it holds shard {shard}")
        return ShardSize(words, sentences)

    def _size_in_former_header(self) -> ShardSize:
        _, fingerprint, words, sentences = _FORMER_HEADER.unpack(self._header(_FORMER_HEADER.size, _FORMER_MARK))
        if fingerprint.hex() != self._fingerprint:
            raise self.damaged("it was encoded with another vocabulary")
        return ShardSize(words, sentences)

    def _header(self, size: int, mark: bytes) -> bytes:
        header = self._read(0, size)
        if len(header) < size or not header.startswith(mark):
            raise self.damaged("it does not begin as a shard of this format does")
        return header

    def _numbers(self, first: int, end: int) -> Int32Array:
        """Return some of the shard's numbers, ids and then lengths."""
        if first == end:
            return np.zeros(0, np.int32)
        begin, size = NUMBER.itemsize * first, NUMBER.itemsize * (end - first)
        if self._has_checksums:
            pages_begin, data = self._checked_pages(begin, begin + size)
        else:
            pages_begin, data = begin, self._bytes(self._data_begin + begin, size)
        return np.frombuffer(data, NUMBER, end - first, begin - pages_begin).astype(np.int32, copy=False)

    def _checked_pages(self, begin: int, end: int) -> tuple[int, bytes]:
        """Return the place in the data where the pages with these bytes begin, and the bytes of these pages."""
        first, stop = begin // PAGE_BYTES, -(-end // PAGE_BYTES)
        pages_begin = first * PAGE_BYTES
        pages_end = min(stop * PAGE_BYTES, self.size.data_bytes)
        data = self._bytes(self._data_begin + pages_begin, pages_end - pages_begin)
        place = self._data_begin + self.size.data_bytes + PAGE_CHECKSUM_BYTES * first
        found, expected = page_checksums(data), self._bytes(place, PAGE_CHECKSUM_BYTES * (stop - first))
        if found != expected:
            wrong = next(at for at, _ in enumerate(found) if found[at] != expected[at]) // PAGE_CHECKSUM_BYTES
            begin = pages_begin + wrong * PAGE_BYTES
            end = min(begin + PAGE_BYTES, pages_end)
            where = f"bytes {self._data_begin + begin} to {self._data_begin + end}"
            raise self.damaged(f"{where} do not fit their checksum")
        return pages_begin, data

    def _bytes(self, place: int, size: int) -> bytes:
        data = self._read(place, size)
        if len(data) != size:
            raise self.damaged("it has become shorter")
        return data

    def _read(self, place: int, size: int) -> bytes:
        """Return `size` bytes of the file, or less if it ends before."""
        file = self._file.fileno()
        try:
            data = os.pread(file, size, place)
            while len(data) < size and (more := os.pread(file, size - len(data), place + len(data))):
                data += more
        except OSError as error:
            raise with_path(error, WHAT_TO_DO, self._path) from None
        return data


class PageChecksums:
    """Computes the checksums of pages while their data is written, some bytes at a time.

    Parameters
    ----------
    skipped : int, optional
        Bytes at the beginning that belong to a page before.
    """

    def __init__(self, skipped: int = 0) -> None:
        self._skipped = skipped
        self._checksums = bytearray()
        self._rest = b""  # bytes of a page that is not complete

    def add(self, data: bytes) -> None:
        """Add the next bytes."""
        in_pages = data[self._skipped :]
        self._skipped -= len(data) - len(in_pages)
        data = self._rest + in_pages
        whole = len(data) // PAGE_BYTES * PAGE_BYTES
        self._checksums += page_checksums(data[:whole])
        self._rest = data[whole:]

    @property
    def of_whole_pages(self) -> bytes:
        """The checksums of the pages that are complete so far."""
        return bytes(self._checksums)

    def finish(self) -> bytes:
        """Return all checksums; the last page may be short."""
        return self.of_whole_pages + page_checksums(self._rest)


def with_path(error: OSError, advice: str, path: Path) -> OSError:
    """Return an error of the operating system that names the file and what to do."""
    return OSError(error.errno, f"{error.strerror}; {advice}", str(path))


def _extremes(numbers: Int32Array) -> tuple[int, int, int]:
    """Return the least and the largest of some numbers and their sum, zeros if there are none."""
    found = np.empty(3, np.int64)
    call("extremes", numbers, found)
    least, largest, total = found.tolist()
    return least, largest, total


def checksum_bytes(data_bytes: int) -> int:
    """Return the size of the checksums of `data_bytes` bytes."""
    return PAGE_CHECKSUM_BYTES * -(-data_bytes // PAGE_BYTES)
