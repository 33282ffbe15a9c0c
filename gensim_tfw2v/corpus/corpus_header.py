"""``corpus.json``, the header of an encoded corpus: what belongs to it, under a checksum of its own.

It holds the format, the SHA-256 of ``vocabulary.txt`` and, for each shard, its words, its sentences and the SHA-256 of
its checksums. Its last field is the SHA-256 of all bytes before that field. This is the fingerprint of the corpus: no
other text has it. In the former format there is no such field, and the fingerprint is the SHA-256 of the vocabulary.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gensim_tfw2v.corpus.shard_file import WHAT_TO_DO, EncodedCorpusError, ShardSize, with_path
from gensim_tfw2v.files.checked_json import checksum_in, with_checksum

HEADER_FILE, VOCABULARY_FILE = "corpus.json", "vocabulary.txt"
# These differ in many bits, so that damage does not turn one into the other.
_FORMAT, _FORMER_FORMAT = "gensim_tfw2v encoded and checked corpus 2", "gensim_tfw2v encoded corpus 1"
_LONGEST_QUOTE = 80


@dataclass(frozen=True)
class CorpusHeader:
    """The content of the header."""

    fingerprint: str  # SHA-256 in hexadecimal, as all of these
    vocabulary: str
    shards: list[ShardSize]
    checksums: list[str]  # of each shard's checksums; none in the former format

    @property
    def has_checksums(self) -> bool:
        """False in the former format."""
        return bool(self.checksums)


def header_text(vocabulary: str, shards: Sequence[ShardSize], checksums: Sequence[str]) -> tuple[bytes, str]:
    """Return the bytes of ``corpus.json`` and the fingerprint of the corpus."""
    of_shards = [asdict(size) | {"checksums": found} for size, found in zip(shards, checksums, strict=True)]
    fields = {"format": _FORMAT, "vocabulary": vocabulary, "shards": of_shards}
    return with_checksum(json.dumps(fields, indent=1))


def read_header(folder: Path) -> CorpusHeader:
    """Return the header of an encoded corpus; raise an error that names the file unless it is whole."""
    path = folder / HEADER_FILE
    data = read_file(path)
    try:
        found = json.loads(data)
        if found["format"] == _FORMAT:
            return _checked_header(data, found)
        if found["format"] == _FORMER_FORMAT:
            return _former_header(found)
        shown = repr(found["format"])[:_LONGEST_QUOTE]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise EncodedCorpusError(f"{path} is damaged ({type(error).__name__}: {error}); {WHAT_TO_DO}") from None
    raise EncodedCorpusError(f"{path}: the format is {shown}, not {_FORMAT!r}; {WHAT_TO_DO}")


def read_file(path: Path) -> bytes:
    """Return the bytes of a file; an error says what to do."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise with_path(error, f"an encoded corpus has this file; {WHAT_TO_DO}", path) from None


def _checked_header(data: bytes, found: dict[str, Any]) -> CorpusHeader:
    fingerprint = checksum_in(data)
    shards = _sizes(found["shards"])
    checksums = [_sha256(shard["checksums"]) for shard in found["shards"]]
    return CorpusHeader(fingerprint, _sha256(found["vocabulary"]), shards, checksums)


def _former_header(found: dict[str, Any]) -> CorpusHeader:
    fingerprint = _sha256(found["fingerprint"])
    return CorpusHeader(fingerprint, fingerprint, _sizes(found["shards"]), [])


def _sizes(shards: Sequence[dict[str, Any]]) -> list[ShardSize]:
    sizes = [ShardSize(shard["words"], shard["sentences"]) for shard in shards]
    numbers = [number for size in sizes for number in (size.words, size.sentences)]
    if not sizes or not all(type(number) is int and number > 0 for number in numbers):
        raise ValueError("every shard must have words and sentences")
    return sizes


def _sha256(text: Any) -> str:
    if not isinstance(text, str) or len(text) != hashlib.sha256().digest_size * 2 or bytes.fromhex(text).hex() != text:
        raise ValueError(f"{repr(text)[:_LONGEST_QUOTE]} is no SHA-256")
    return text
