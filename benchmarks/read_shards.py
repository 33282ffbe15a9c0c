"""Times what a worker does with an encoded corpus before it trains: `python benchmarks/read_shards.py --help`."""

from __future__ import annotations

import argparse
import struct
import tempfile
import time
import unittest.mock
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gensim_tfw2v import TFWord2Vec, encode_corpus
from gensim_tfw2v.blocks.chunk_task import ChunkTask, prepare
from gensim_tfw2v.corpus import shard_file
from gensim_tfw2v.corpus.shards import EncodedCorpus, ShardReader, Span
from gensim_tfw2v.corpus.sources import EncodedSource
from gensim_tfw2v.model.choices import block_maker, choices_for
from gensim_tfw2v.model.training_plan import placement_for

RATE = 0.025


class Timed:
    """A function whose processor time is added up."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.seconds = 0.0

    def __call__(self, *arguments: Any) -> Any:
        began = time.thread_time()
        result = self._function(*arguments)
        self.seconds += time.thread_time() - began
        return result


def nanoseconds_a_word(
    spans: list[Span], work: Callable[[Span], object], rounds: int, part: Timed | None = None
) -> float:
    """Return the processor time that `work`, or a part of it, takes for all spans, divided by their words.

    What counts of each span is the fastest round: on a machine that others use, the slower ones measure these.
    """
    timed = Timed(work)
    measured = timed if part is None else part
    fastest = dict.fromkeys(spans, float("inf"))
    for span in spans * rounds:
        before = measured.seconds
        timed(span)
        fastest[span] = min(fastest[span], measured.seconds - before)
    return sum(fastest.values()) / sum(span.end_word - span.first_word for span in spans) * 1e9


def crc_checksums(data: bytes) -> bytes:
    """Return another checksum of each page, the CRC-32."""
    view, size = memoryview(data), shard_file.PAGE_BYTES
    checksums = [zlib.crc32(view[begin : begin + size]) for begin in range(0, len(view), size)]
    return struct.pack(f"<{len(checksums)}I", *checksums)


def checksum_times(spans: list[Span], reader: ShardReader, rounds: int) -> list[float]:
    """Return what the checksums take in reading, and what CRC-32 would take."""
    used, other = Timed(shard_file.page_checksums), Timed(crc_checksums)

    def both(data: bytes) -> Any:
        other(data)
        return used(data)

    found = []
    for patch, part in ((used, used), (both, other)):
        with unittest.mock.patch.object(shard_file, "page_checksums", patch):
            found.append(nanoseconds_a_word(spans, reader.read, rounds, part))
    return found


def measure(folder: Path, mode: str, rounds: int) -> None:
    """Print a line for each part of the work, in nanoseconds a raw word."""
    hs = mode.endswith("hs")
    model = TFWord2Vec(sg=int(mode.startswith("sg")), hs=int(hs), negative=0 if hs else 5, min_count=1)
    model.build_vocab(corpus_file=str(folder))
    choice = placement_for(model, None, model.corpus_total_words)
    maker = block_maker(model, choices_for(model, choice, None, model.corpus_total_words))
    source = EncodedSource(EncodedCorpus(folder), model.wv.key_to_index, choice.block_words)
    spans = [chunk.content for chunk in source.epoch() if isinstance(chunk.content, Span)]
    reader = source.reader
    assert reader is not None
    sentences = {span: reader.read(span) for span in spans}

    def make(span: Span) -> None:
        prepare(maker, ChunkTask(sentences[span], (1, span.first_word), RATE, RATE, exact_loss=False))

    reading = nanoseconds_a_word(spans, reader.read, rounds)
    making = nanoseconds_a_word(spans, make, rounds)
    used, crc = checksum_times(spans, reader, rounds)
    print(f"{mode}: {len(spans)} blocks of {choice.block_words:,} raw words, ns a raw word, best of {rounds}")
    print(f"  {reading:6.2f}  read a block's ids and lengths, with checksums")
    print(f"  {used:6.2f}    of it checksums: {used / (reading + making):.2%} of reading and making blocks")
    print(f"  {crc:6.2f}    CRC-32 in their place")
    print(f"  {making:6.2f}  make the block")


def main() -> None:
    """Encode a corpus and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path, help="text file of one sentence a line")
    parser.add_argument("--modes", nargs="+", choices=["sg-neg", "cbow-neg", "sg-hs", "cbow-hs"], default=["sg-neg"])
    parser.add_argument("--rounds", type=int, default=9, help="passes over the corpus (default: 9)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        encode_corpus(arguments.corpus, Path(folder) / "encoded")
        for mode in arguments.modes:
            measure(Path(folder) / "encoded", mode, arguments.rounds)


if __name__ == "__main__":
    main()
