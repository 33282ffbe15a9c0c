"""A chunk that is cut into parts has in all the same sentences, rates and results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gensim_tfw2v.blocks.chunk_parts import parts_of, together
from gensim_tfw2v.blocks.chunk_task import BatchMetrics, ChunkTask, TrainedChunk
from gensim_tfw2v.corpus.encode import encode_corpus
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.shards import EncodedCorpus, Span

LENGTHS = [3, 1, 4, 1, 5, 9, 2, 6]
WORDS = sum(LENGTHS)


def task_of(content: Sentences | Span) -> ChunkTask:
    return ChunkTask(content, (5, 6), first_rate=0.5, last_rate=0.3, exact_loss=True)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 20])
def test_parts_of_sentences_are_the_chunk_one_after_the_other(count: int) -> None:
    content = Sentences(np.arange(WORDS, dtype=np.int32), np.array(LENGTHS, np.int32))
    parts = parts_of(task_of(content), count)
    assert 1 <= len(parts) <= min(count, len(LENGTHS))
    np.testing.assert_array_equal(np.concatenate([part.content.ids for part in parts]), content.ids)
    np.testing.assert_array_equal(np.concatenate([part.content.lengths for part in parts]), content.lengths)
    assert all(part.content.lengths.sum() == part.content.ids.size > 0 for part in parts)
    assert max(part.content.ids.size for part in parts) < WORDS / count + max(LENGTHS)
    assert len({part.entropy for part in parts}) == len(parts)
    assert [part.first_rate for part in parts[1:]] == [part.last_rate for part in parts[:-1]]
    assert (parts[0].first_rate, parts[-1].last_rate) == (0.5, pytest.approx(0.3))
    first_words = parts[0].content.ids.size
    assert parts[0].last_rate == pytest.approx(0.5 - 0.2 * first_words / WORDS)


def test_a_single_part_is_the_chunk_itself() -> None:
    task = task_of(Sentences(np.arange(3, dtype=np.int32), np.array([3], np.int32)))
    assert parts_of(task, 1) == [task]


def test_a_chunk_without_sentences_is_one_part() -> None:
    nothing = task_of(Sentences(np.zeros(0, np.int32), np.zeros(0, np.int32)))
    assert parts_of(nothing, 4) == [nothing]


def test_parts_of_an_encoded_corpus_have_the_same_sentences(tmp_path: Path) -> None:
    text = tmp_path / "corpus.txt"
    words = iter(range(WORDS))
    text.write_text("".join(" ".join(f"w{next(words)}" for _ in range(length)) + "\n" for length in LENGTHS))
    encode_corpus(str(text), str(tmp_path / "encoded"))
    corpus = EncodedCorpus(tmp_path / "encoded")
    reader = corpus.reader({word: number for number, word in enumerate(corpus.counts())})
    whole = Span(0, 3, WORDS, 1, len(LENGTHS))  # without the first sentence
    parts = parts_of(task_of(whole), 3, reader)
    assert len(parts) == 3
    read = [reader.read(part.content) for part in parts]
    np.testing.assert_array_equal(np.concatenate([part.ids for part in read]), reader.read(whole).ids)
    np.testing.assert_array_equal(np.concatenate([part.lengths for part in read]), LENGTHS[1:])


def test_only_the_first_part_measures_some_batches() -> None:
    content = Sentences(np.arange(WORDS, dtype=np.int32), np.array(LENGTHS, np.int32))
    whole = replace(task_of(content), exact_loss=False)
    assert [part.measures for part in parts_of(whole, 3)] == [True, False, False]
    assert not any(part.measures for part in parts_of(replace(whole, measures=False), 3))


def trained(tokens: int, most_moved: tuple[int, float] | None = None) -> TrainedChunk:
    values = np.full(2, tokens, np.float32)
    batches = BatchMetrics(values, values + 1, values + 2)
    return TrainedChunk(tokens, batches, np.array([True, False]), values.astype(np.float64), 0.25, 0.5, most_moved)


def test_results_of_parts_are_added_in_their_order() -> None:
    found = together([trained(1), trained(2, (7, 0.5)), trained(3, (8, 0.5))])
    assert (found.tokens, found.seconds_preparing, found.seconds_stepping) == (6, 0.75, 1.5)
    assert found.most_moved == (7, 0.5)
    assert found.batches.losses.tolist() == [1, 1, 2, 2, 3, 3]
    assert found.batches.clipped_rows.tolist() == [3, 3, 4, 4, 5, 5]
    assert found.measured.tolist() == [True, False] * 3
    assert found.pairs.tolist() == [1, 1, 2, 2, 3, 3]
