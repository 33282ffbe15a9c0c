"""Writes encoded corpora in the former format, which has no checksums and still opens."""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path

from gensim_tfw2v.corpus.shard_file import HEADER_BYTES
from gensim_tfw2v.corpus.shards import EncodedCorpus, shard_path

FORMER_HEADER_BYTES = 64


def write_former(encoded: Path, folder: Path) -> Path:
    """Write an encoded corpus again in the former format, to a new folder; return that."""
    corpus = EncodedCorpus(encoded)
    folder.mkdir()
    vocabulary = (encoded / "vocabulary.txt").read_bytes()
    fingerprint = hashlib.sha256(vocabulary)
    (folder / "vocabulary.txt").write_bytes(vocabulary)
    for shard, size in enumerate(corpus.shards):
        numbers = shard_path(encoded, shard).read_bytes()[HEADER_BYTES:][: 4 * (size.words + size.sentences)]
        header = struct.pack("<16s32sQQ", b"tfw2v shard 1\0\0\0", fingerprint.digest(), size.words, size.sentences)
        shard_path(folder, shard).write_bytes(header + numbers)
    found = {
        "format": "gensim_tfw2v encoded corpus 1",
        "fingerprint": fingerprint.hexdigest(),
        "shards": [{"words": size.words, "sentences": size.sentences} for size in corpus.shards],
    }
    (folder / "corpus.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
    return folder
