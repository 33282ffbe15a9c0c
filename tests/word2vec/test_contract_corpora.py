"""Corpora: what may be a sentence, what may be a word, and where sentences may come from."""

from __future__ import annotations

import bz2
import gzip
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import Word2Vec
from gensim.models.word2vec import LineSentence, PathLineSentences
from support.contract import SENTENCE_WORDS, SENTENCES, assert_equal_models, assert_finite

ARGUMENTS: dict[str, Any] = {"vector_size": 8, "min_count": 1, "workers": 1, "sample": 0, "epochs": 2}
COUNTS = (2 * SENTENCE_WORDS, 2 * SENTENCE_WORDS)


def build_and_train(word2vec_class: type[Any], sentences: Any, **arguments: Any) -> tuple[Any, tuple[int, int]]:
    """Return a model trained for two epochs on an iterable, and what train() returned."""
    model = word2vec_class(**ARGUMENTS | arguments)
    model.build_vocab(sentences)
    counts = model.train(sentences, total_examples=model.corpus_count, epochs=2)
    assert_finite(model)
    return model, counts


def write_lines(sentences: list[list[str]], path: Path) -> str:
    """Write sentences to a file, one a line; return its path."""
    path.write_text("".join(" ".join(sentence) + "\n" for sentence in sentences), encoding="utf-8")
    return str(path)


def test_a_generator_is_refused_where_several_passes_are_needed(word2vec_class: type[Any]) -> None:
    with pytest.raises(TypeError, match="generator"):
        word2vec_class((sentence for sentence in SENTENCES), **ARGUMENTS)


def test_a_generator_serves_for_one_pass(word2vec_class: type[Any]) -> None:
    model = word2vec_class(**ARGUMENTS)
    model.build_vocab(sentence for sentence in SENTENCES)
    generator = (sentence for sentence in SENTENCES)
    counts = model.train(generator, total_examples=len(SENTENCES), epochs=1)
    assert counts == (SENTENCE_WORDS, SENTENCE_WORDS)


def test_a_restartable_iterable_is_read_again_for_training(word2vec_class: type[Any]) -> None:
    class Restartable:
        def __iter__(self) -> Iterator[list[str]]:
            yield from SENTENCES

    assert build_and_train(word2vec_class, Restartable())[1] == COUNTS


def test_a_sentence_may_have_a_length_and_indices_only(word2vec_class: type[Any]) -> None:
    class Indexed:
        def __init__(self, words: list[str]) -> None:
            self.words = words

        def __len__(self) -> int:
            return len(self.words)

        def __getitem__(self, place: int) -> str:
            return self.words[place]

    assert build_and_train(word2vec_class, [Indexed(sentence) for sentence in SENTENCES])[1] == COUNTS


def test_a_corpus_may_be_bound_to_the_thread_that_opened_it(word2vec_class: type[Any], tmp_path: Path) -> None:
    path = tmp_path / "sentences.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("create table sentences (words text)")
        database.executemany("insert into sentences values (?)", [("human graph user trees " * 250,)] * 500)

    class Table:
        def __iter__(self) -> Iterator[list[str]]:
            with closing(sqlite3.connect(path)) as database:  # which no other thread may use
                for (words,) in database.execute("select words from sentences"):
                    yield words.split()

    _, counts = build_and_train(word2vec_class, Table(), workers=2, batch_words=50_000)
    assert counts[1] == 2 * 500_000


@pytest.mark.parametrize("corpus", [[], [[]], [[], []]], ids=["nothing", "one empty", "two empty"])
def test_an_empty_corpus_is_an_error(word2vec_class: type[Any], corpus: list[list[str]]) -> None:
    with pytest.raises(RuntimeError, match="first build vocabulary"):
        word2vec_class(corpus, **ARGUMENTS)


def test_a_corpus_of_rare_words_only_is_an_error(word2vec_class: type[Any]) -> None:
    with pytest.raises(RuntimeError, match="first build vocabulary"):
        word2vec_class(SENTENCES, min_count=1000)


def test_training_on_nothing_warns_and_trains_nothing(
    word2vec_class: type[Any], caplog: pytest.LogCaptureFixture
) -> None:
    model = word2vec_class(**ARGUMENTS)
    model.build_vocab(SENTENCES)
    assert model.train([], total_examples=1, epochs=1) == (0, 0)
    assert "train() called with an empty iterator" in caplog.text


def test_a_corpus_without_a_known_word_warns(tfword2vec_class: type[Any], caplog: pytest.LogCaptureFixture) -> None:
    model = tfword2vec_class(SENTENCES, **ARGUMENTS)
    before = model.wv.vectors.copy()
    assert model.train([["never", "met"]] * 5, total_examples=5, epochs=1) == (0, 10)
    assert "EPOCH 0: none of 10 raw words was trained: they are not in the vocabulary" in caplog.text
    np.testing.assert_array_equal(model.wv.vectors, before)


def test_one_word_trains_by_negative_sampling(word2vec_class: type[Any]) -> None:
    _, counts = build_and_train(word2vec_class, [["alone"] * 10] * 3)
    assert counts == (60, 60)


@pytest.mark.parametrize("sg", [0, 1])
def test_one_word_has_an_empty_huffman_path_and_trains(tfword2vec_class: type[Any], sg: int) -> None:
    """gensim hangs here: its worker thread dies of the code that is a list instead of an array."""
    model, counts = build_and_train(tfword2vec_class, [["alone"] * 10] * 3, sg=sg, hs=1, negative=0)
    assert counts == (60, 60)
    assert len(model.wv) == 1


def test_two_words_train(word2vec_class: type[Any], mode: dict[str, int]) -> None:
    model, counts = build_and_train(word2vec_class, [["left", "right"] * 5] * 3, **mode)
    assert counts == (60, 60)
    assert sorted(model.wv.index_to_key) == ["left", "right"]


def test_sentences_of_one_word_count_but_teach_nothing(word2vec_class: type[Any], pure_mode: dict[str, int]) -> None:
    sentences = [["human"], ["graph"], ["user"]] * 10
    model = word2vec_class(**ARGUMENTS, **pure_mode)
    model.build_vocab(sentences)
    before = model.wv.vectors.copy()
    assert model.train(sentences, total_examples=30, epochs=2) == (60, 60)
    np.testing.assert_array_equal(model.wv.vectors, before)


def test_words_of_different_sentences_are_not_neighbours(word2vec_class: type[Any], pure_mode: dict[str, int]) -> None:
    """A lone word between two sentences takes no part in any pair, so its input vector stays as it was."""
    sentences = [["human", "computer"], ["alone"], ["graph", "trees"]] * 20
    model = word2vec_class(**ARGUMENTS, **pure_mode)
    model.build_vocab(sentences)
    before = {word: model.wv[word].copy() for word in model.wv.index_to_key}
    model.train(sentences, total_examples=60, epochs=2)
    changed = {word for word, vector in before.items() if not np.array_equal(model.wv[word], vector)}
    assert changed == {"human", "computer", "graph", "trees"}


def test_every_word_of_a_very_long_sentence_trains(tfword2vec_class: type[Any]) -> None:
    sentence = ["human", "computer", "graph", "trees", "user"] * 5000
    assert build_and_train(tfword2vec_class, [sentence])[1] == (50_000, 50_000)


def test_gensim_drops_what_is_beyond_ten_thousand_words() -> None:
    """What the test above differs from; should gensim change, our documentation has to."""
    sentence = ["human", "computer", "graph", "trees", "user"] * 5000
    assert build_and_train(Word2Vec, [sentence])[1] == (20_000, 50_000)


@pytest.mark.parametrize(
    "words",
    [
        ["naïve", "café", "日本語", "слово"],
        ["😀", "👩‍👩‍👧", "שלום", "\u200b"],
        [1, 2, 3, 40],
        [("a", 1), ("b", 2), ("c", 3)],
    ],
    ids=["letters", "emoji and marks", "integers", "tuples"],
)
def test_words_may_be_any_text_or_hashable(word2vec_class: type[Any], words: list[Any]) -> None:
    model, counts = build_and_train(word2vec_class, [words * 2] * 10)
    assert counts == (2 * 20 * len(words), 2 * 20 * len(words))
    assert set(model.wv.index_to_key) == set(words)
    assert all(model.wv.get_vector(word).shape == (8,) for word in words)


def test_sentences_may_be_tuples(word2vec_class: type[Any]) -> None:
    assert build_and_train(word2vec_class, [tuple(sentence) for sentence in SENTENCES])[1] == COUNTS


def test_sentences_may_be_numpy_arrays(tfword2vec_class: type[Any]) -> None:
    """gensim hangs here: its worker thread dies of the truth value of an array."""
    model, counts = build_and_train(tfword2vec_class, [np.array(sentence) for sentence in SENTENCES])
    assert counts == COUNTS
    assert "human" in model.wv


def test_a_plain_string_as_sentence_warns_and_trains_letters(
    word2vec_class: type[Any], caplog: pytest.LogCaptureFixture
) -> None:
    model, counts = build_and_train(word2vec_class, ["hello", "world"])
    assert "Each 'sentences' item should be a list of words" in caplog.text
    assert set(model.wv.index_to_key) == set("helloworld")
    assert counts == (20, 20)


def train_from_file(word2vec_class: type[Any], path: str) -> tuple[Any, tuple[int, int]]:
    """Return a model trained for two epochs on a corpus file, and what train() returned."""
    model = word2vec_class(**ARGUMENTS)
    model.build_vocab(corpus_file=path)
    totals = {"total_words": model.corpus_total_words, "total_examples": model.corpus_count}
    return model, model.train(corpus_file=path, epochs=2, **totals)


def test_a_file_and_an_iterable_give_the_same_vocabulary_and_raw_words(
    word2vec_class: type[Any], lee: list[list[str]], tmp_path: Path
) -> None:
    iterable, (_, raw_words) = build_and_train(word2vec_class, lee)
    model, (_, file_raw_words) = train_from_file(word2vec_class, write_lines(lee, tmp_path / "lee.txt"))
    assert file_raw_words == raw_words == 2 * model.corpus_total_words
    assert model.wv.index_to_key == iterable.wv.index_to_key
    assert model.corpus_count == iterable.corpus_count
    np.testing.assert_array_equal(model.wv.expandos["count"], iterable.wv.expandos["count"])


def test_every_word_of_a_file_trains(tfword2vec_class: type[Any], lee: list[list[str]], tmp_path: Path) -> None:
    """gensim's file mode loses some: 2 % of the Lee corpus."""
    model, (trained_words, _) = train_from_file(tfword2vec_class, write_lines(lee, tmp_path / "lee.txt"))
    assert trained_words == 2 * model.corpus_total_words


@pytest.mark.parametrize("sg", [0, 1])
def test_a_corpus_file_trains_in_the_constructor(word2vec_class: type[Any], tmp_path: Path, sg: int) -> None:
    path = write_lines(SENTENCES, tmp_path / "corpus.txt")
    model = word2vec_class(corpus_file=path, **ARGUMENTS, sg=sg)
    assert model.train_count == 1
    assert_finite(model)
    assert np.abs(model.syn1neg).max() > 0


def test_odd_lines_of_a_file_are_read_as_line_sentence_reads_them(word2vec_class: type[Any], tmp_path: Path) -> None:
    path = tmp_path / "odd.txt"
    path.write_bytes("\n\nhuman\tgraph  \r\n \nséance trees\n\nhuman user".encode())
    model = word2vec_class(**ARGUMENTS)
    model.build_vocab(corpus_file=str(path))
    assert sorted(model.wv.index_to_key) == ["graph", "human", "séance", "trees", "user"]
    assert (model.corpus_count, model.corpus_total_words) == (3, 6)


@pytest.mark.parametrize(("suffix", "opener"), [(".gz", gzip.open), (".bz2", bz2.open)], ids=["gzip", "bzip2"])
def test_compressed_files_train_through_line_sentence(
    word2vec_class: type[Any], tmp_path: Path, suffix: str, opener: Any
) -> None:
    path = tmp_path / f"corpus{suffix}"
    with opener(path, "wt", encoding="utf-8") as file:
        file.writelines(" ".join(sentence) + "\n" for sentence in SENTENCES)
    assert build_and_train(word2vec_class, LineSentence(str(path)))[1] == COUNTS


@pytest.mark.parametrize(("suffix", "opener"), [(".gz", gzip.open), (".bz2", bz2.open)], ids=["gzip", "bzip2"])
@pytest.mark.parametrize("limits", [{}, {"max_vocab_size": 100}], ids=["counted by us", "counted by gensim"])
def test_a_compressed_corpus_file_trains_as_the_plain_one(
    tfword2vec_class: type[Any], tmp_path: Path, suffix: str, opener: Any, limits: dict[str, Any]
) -> None:
    plain = write_lines(SENTENCES, tmp_path / "corpus.txt")
    compressed = str(tmp_path / f"corpus.txt{suffix}")
    with opener(compressed, "wt", encoding="utf-8") as file:
        file.writelines(" ".join(sentence) + "\n" for sentence in SENTENCES)
    models = [tfword2vec_class(corpus_file=path, **ARGUMENTS | limits) for path in (plain, compressed)]
    assert_equal_models(*models)


def test_a_folder_of_plain_and_compressed_files_trains(word2vec_class: type[Any], tmp_path: Path) -> None:
    write_lines(SENTENCES[:70], tmp_path / "1.txt")
    with gzip.open(tmp_path / "2.txt.gz", "wt", encoding="utf-8") as file:
        file.writelines(" ".join(sentence) + "\n" for sentence in SENTENCES[70:])
    assert build_and_train(word2vec_class, PathLineSentences(str(tmp_path)))[1] == COUNTS


@pytest.mark.parametrize(
    ("settings", "passes"),
    [({"cache_memory": 0}, [1, 2, 3]), ({}, [1, 2, 4])],  # pass 3 shows that sentences differ
    ids=["without a cache", "by default"],
)
def test_a_corpus_that_changes_between_passes_is_read_afresh(
    settings: dict[str, Any], passes: list[int], tfword2vec_class: type[Any]
) -> None:
    """Random walks yield other sentences on each pass; every epoch trains its own."""

    class Growing:
        def __init__(self) -> None:
            self.passes = 0

        def __iter__(self) -> Iterator[list[str]]:
            self.passes += 1
            yield from SENTENCES[:10] * self.passes

    corpus = Growing()
    model = tfword2vec_class(**ARGUMENTS, **settings)
    model.build_vocab(corpus)
    words = model.corpus_total_words * sum(passes[1:])
    assert model.train(corpus, total_examples=10, epochs=2) == (words, words)
    assert corpus.passes == passes[-1]


@pytest.mark.parametrize(
    ("epochs", "disk", "kept"),
    [
        pytest.param(2, 10**6, True, id="read-twice"),
        pytest.param(1, 10**6, False, id="read-once"),
        pytest.param(2, 100, False, id="known-not-to-fit"),
    ],
)
def test_nothing_is_kept_that_is_read_once_or_known_not_to_fit(
    tfword2vec_class: type[Any], tmp_path: Path, epochs: int, disk: int, kept: bool
) -> None:
    """A folder that does not exist tells whether a file for the encoded corpus was begun."""
    model = tfword2vec_class(**ARGUMENTS, cache_memory=0, cache_disk=disk, cache_dir=str(tmp_path / "missing"))
    sentences = [["a", "b", "c", "d"]] * 50
    model.build_vocab(sentences)
    arguments = {"total_examples": 50, "total_words": model.corpus_total_words, "epochs": epochs}
    if kept:
        with pytest.raises(OSError, match="cannot make a file for the encoded corpus"):
            model.train(sentences, **arguments)
    else:
        assert model.train(sentences, **arguments)[1] == 200 * epochs
