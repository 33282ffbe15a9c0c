"""Corpora encoded to disk: the same words as the text, read by those who train them, and refused when damaged."""

from __future__ import annotations

import bz2
import gzip
import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.contract import assert_equal_models, learnt_arrays
from support.former_corpus import write_former
from support.placements import shared_cluster

from gensim_tfw2v import TFWord2Vec, encode_corpus
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.corpus.chunks import Chunk
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.shard_file import HEADER_BYTES
from gensim_tfw2v.corpus.shards import EncodedCorpus, EncodedCorpusError, Span, shard_path
from gensim_tfw2v.corpus.sources import CacheBudget, EncodedSource, FileSource, Reading
from gensim_tfw2v.placement.calls import server_training

SMALL: dict[str, Any] = {"vector_size": 8, "epochs": 2, "workers": 1, "batch_words": 3000, "optimizer": "sgd"}


@pytest.fixture(scope="session")
def encoded(lee_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Lee corpus, encoded in one shard."""
    folder = tmp_path_factory.mktemp("corpora") / "one"
    encode_corpus(lee_file, folder)
    return folder


@pytest.fixture(scope="session")
def in_shards(lee_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return parts of the Lee corpus, encoded in a shard each."""
    folder = tmp_path_factory.mktemp("corpora")
    lines = lee_file.read_text(encoding="utf-8").splitlines()
    (folder / "text").mkdir()
    for number in range(4):
        (folder / "text" / f"{number}.txt").write_text("".join(f"{line}\n" for line in lines[75 * number :][:75]))
    assert len(encode_corpus(folder / "text", folder / "four", shard_words=1).shards) == 4
    return folder / "four"


@pytest.fixture
def damaged(in_shards: Path, tmp_path: Path) -> Path:
    """Return a copy to damage."""
    return Path(shutil.copytree(in_shards, tmp_path / "damaged"))


def chunks_read(source: EncodedSource) -> list[tuple[list[int], list[int], int, int, int]]:
    """Return what a worker reads for each chunk of an epoch."""
    assert source.reader is not None
    read = []
    for chunk in source.epoch():
        assert isinstance(chunk.content, Span)
        sentences = source.reader.read(chunk.content)
        read.append((sentences.ids.tolist(), sentences.lengths.tolist(), *_counts(chunk)))
    return read


def _counts(chunk: Chunk) -> tuple[int, int, int]:
    return chunk.number, chunk.raw_words, chunk.sentences


def test_an_encoded_corpus_has_the_chunks_of_its_text(encoded: Path, lee_file: Path) -> None:
    words = EncodedCorpus(encoded).counts()
    vocabulary = {word: number for number, word in enumerate(word for word, count in words.items() if count > 2)}
    text = FileSource(lee_file, Reading(vocabulary, 3000, CacheBudget(0, 0)), 1)
    of_text = [(chunk.content.ids.tolist(), chunk.content.lengths.tolist(), *_counts(chunk)) for chunk in text.epoch()]
    assert chunks_read(EncodedSource(EncodedCorpus(encoded), vocabulary, 3000)) == of_text


def test_the_chunks_of_many_shards_hold_each_sentence_once(in_shards: Path, lee_file: Path) -> None:
    corpus = EncodedCorpus(in_shards)
    words = list(corpus.counts())
    chunks = chunks_read(EncodedSource(corpus, {word: number for number, word in enumerate(words)}, 3000))
    found = [words[number] for chunk in chunks for number in chunk[0]]
    assert found == lee_file.read_text(encoding="utf-8").split()
    assert sum(chunk[4] for chunk in chunks) == corpus.sentences == 300


def test_counts_are_those_of_the_text(in_shards: Path, lee_file: Path) -> None:
    assert EncodedCorpus(in_shards).counts() == Counter(lee_file.read_text(encoding="utf-8").split())


@pytest.mark.parametrize("name", ["text.gz", "text.bz2"])
def test_compressed_text_is_encoded_alike(name: str, encoded: Path, lee_file: Path, tmp_path: Path) -> None:
    opener: Callable[..., Any] = gzip.open if name.endswith("gz") else bz2.open
    with opener(tmp_path / name, "wb") as file:
        file.write(lee_file.read_bytes())
    encode_corpus(tmp_path / name, tmp_path / "encoded")
    for file in encoded.iterdir():
        assert (tmp_path / "encoded" / file.name).read_bytes() == file.read_bytes(), file.name


def test_training_here_on_an_encoded_corpus_gives_the_vectors_of_its_text(encoded: Path, lee_file: Path) -> None:
    models = [TFWord2Vec(corpus_file=str(corpus), **SMALL) for corpus in (encoded, lee_file)]
    assert_equal_models(*models)
    assert models[0].corpus_total_words == models[1].corpus_total_words


def test_a_model_with_another_vocabulary_trains_the_words_that_it_knows(encoded: Path) -> None:
    model = TFWord2Vec(**SMALL | {"min_count": 1, "sample": 0})
    model.build_vocab([["the", "cat", "and", "mat"]])
    total = EncodedCorpus(encoded).words
    trained, raw_words = model.train(corpus_file=str(encoded), total_words=total, epochs=1)
    counts = EncodedCorpus(encoded).counts()
    assert trained == sum(counts.get(word, 0) for word in ("the", "cat", "and", "mat"))
    assert raw_words == total


@pytest.fixture
def assigned(monkeypatch: pytest.MonkeyPatch) -> dict[type, list[tuple[Any, int]]]:
    """Gather the chunks that coordinators send meanwhile, and the bytes of each assignment, by the chunks' type."""
    found: dict[type, list[tuple[Any, int]]] = {Sentences: [], Span: []}
    encode = server_training.encode

    def counted(value: Any) -> Any:
        data = encode(value)
        if type(value).__name__ == "Assignment":
            found[type(value.task.content)].append((value.task.content, data.nbytes))
        return data

    monkeypatch.setattr(server_training, "encode", counted)
    return found


def test_workers_of_a_cluster_read_the_same_sentences_as_they_would_be_sent(
    encoded: Path, lee_file: Path, assigned: dict[type, list[tuple[Any, int]]]
) -> None:
    sent, read = (
        TFWord2Vec(corpus_file=str(corpus), **SMALL, cluster=shared_cluster()) for corpus in (lee_file, encoded)
    )
    for name, array in learnt_arrays(sent).items():
        np.testing.assert_allclose(learnt_arrays(read)[name], array, atol=1e-5, err_msg=name)
    assert sent.training_report is not None
    assert read.training_report is not None
    assert read.training_report["raw_words"] == sent.training_report["raw_words"]
    # In two epochs, ids and lengths travel in one case only. The rows are the same.
    known = sum(sent.wv.get_vecattr(word, "count") for word in sent.wv.index_to_key)
    assert sum(content.nbytes for content, _ in assigned[Sentences]) == 2 * 4 * (known + 300)
    of_ids, of_spans = (sum(size for _, size in assigned[kind]) for kind in (Sentences, Span))
    assert sent.training_report["bytes"] - read.training_report["bytes"] == of_ids - of_spans
    assert len(assigned[Span]) == read.training_report["blocks"]


def test_two_workers_train_every_word_of_all_shards_once_an_epoch(in_shards: Path) -> None:
    arguments = SMALL | {"workers": 2, "sample": 0, "min_count": 1}
    model = TFWord2Vec(corpus_file=str(in_shards), **arguments, cluster=shared_cluster())
    report = model.training_report
    assert report is not None
    assert report["trained_words"] == report["raw_words"] == 2 * EncodedCorpus(in_shards).words
    assert min(report["tasks"][f"worker {worker}"]["blocks"] for worker in range(2)) > 0


def test_a_corpus_that_a_worker_does_not_see_is_named_with_the_worker(
    damaged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = shared_cluster()
    monkeypatch.chdir(damaged)
    with pytest.raises(ClusterError, match=r"worker \d at 127.0.0.1:\d+: .*see it under this path.*/shard-00000.ids"):
        # A path that leads each process to a place of its own.
        TFWord2Vec(corpus_file="/proc/self/cwd", **SMALL, cluster=cluster)


def truncate(folder: Path) -> None:
    os.truncate(shard_path(folder, 1), 5000)


def empty(folder: Path) -> None:
    os.truncate(shard_path(folder, 1), 0)


def remove(folder: Path) -> None:
    shard_path(folder, 1).unlink()


def exchange(folder: Path) -> None:
    shutil.copy(shard_path(folder, 0), shard_path(folder, 1))


def recount(folder: Path) -> None:
    path = folder / "vocabulary.txt"
    path.write_bytes(path.read_bytes().replace(b" 1\n", b" 2\n", 1))


def cut_header(folder: Path) -> None:
    os.truncate(folder / "corpus.json", 30)


def from_the_future(folder: Path) -> None:
    path = folder / "corpus.json"
    path.write_text(path.read_text().replace("corpus 2", "corpus 9"))


def flip_a_bit(folder: Path) -> None:
    """Turn the lowest bit of the first id, which leaves it the id of a word."""
    with shard_path(folder, 1).open("r+b") as file:
        file.seek(HEADER_BYTES)
        number = file.read(1)[0]
        file.seek(HEADER_BYTES)
        file.write(bytes([number ^ 1]))


def from_another_encoding(folder: Path) -> None:
    (folder / "other.txt").write_text("other words")
    encode_corpus(folder / "other.txt", folder / "other")
    shutil.copy(shard_path(folder / "other", 0), shard_path(folder, 1))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (truncate, r"shard-00001.ids .*5000 bytes instead of"),
        (empty, r"shard-00001.ids .*does not begin"),
        (remove, r"shard-00001.ids"),
        (exchange, r"shard-00001.ids .*it holds"),
        (recount, r"vocabulary.txt is not the vocabulary"),
        (cut_header, r"corpus.json is damaged"),
        (from_the_future, r"corpus.json: the format is '.*corpus 9'"),
        (from_another_encoding, r"shard-00001.ids .*another vocabulary"),
        (flip_a_bit, r"shard-00001.ids .*bytes 72 to 4168 do not fit their checksum; fetch the file again, or encode"),
    ],
)
def test_a_damaged_corpus_is_refused_naming_the_file(
    damaged: Path, damage: Callable[[Path], None], message: str
) -> None:
    damage(damaged)
    with pytest.raises((EncodedCorpusError, FileNotFoundError), match=message):
        TFWord2Vec(corpus_file=str(damaged), **SMALL)


def test_damage_that_a_worker_finds_ends_training_with_the_names_of_worker_and_file(damaged: Path) -> None:
    flip_a_bit(damaged)
    EncodedCorpus(damaged).counts()  # the coordinator does not read ids
    with pytest.raises(ClusterError, match=r"worker \d at 127.0.0.1:\d+: .*/shard-00001.ids .*encode the corpus anew$"):
        TFWord2Vec(corpus_file=str(damaged), **SMALL, cluster=shared_cluster())


def test_a_corpus_of_the_former_format_trains_the_same_vectors_here_and_on_a_cluster(
    encoded: Path, tmp_path: Path
) -> None:
    former = str(write_former(encoded, tmp_path / "former"))
    expected = TFWord2Vec(corpus_file=str(encoded), **SMALL)
    assert_equal_models(TFWord2Vec(corpus_file=former, **SMALL), expected)
    for name, array in learnt_arrays(TFWord2Vec(corpus_file=former, **SMALL, cluster=shared_cluster())).items():
        np.testing.assert_allclose(learnt_arrays(expected)[name], array, atol=1e-5, err_msg=name)


def test_encoding_that_fails_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "1.txt").write_text("good words\n")
    (tmp_path / "text" / "2.txt").write_bytes(b"bad \xe9t\xe9\n")
    with pytest.raises(ValueError, match=r"2.txt: not UTF-8"):
        encode_corpus(tmp_path / "text", tmp_path / "encoded", shard_words=1)
    assert os.listdir(tmp_path) == ["text"]


def test_what_is_there_already_is_not_written_over(encoded: Path, lee_file: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(FileExistsError, match="there"):
        encode_corpus(lee_file, tmp_path / "there")


def test_a_folder_in_the_corpus_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text" / "more").mkdir(parents=True)
    with pytest.raises(ValueError, match="'more', which is not a file"):
        encode_corpus(tmp_path / "text", tmp_path / "encoded")


@pytest.mark.parametrize("content", ["", " \n\n \n"], ids=["empty", "blank"])
def test_a_corpus_without_words_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_text(content)
    with pytest.raises(ValueError, match="no words"):
        encode_corpus(tmp_path / "text", tmp_path / "encoded")
    assert os.listdir(tmp_path) == ["text"]
