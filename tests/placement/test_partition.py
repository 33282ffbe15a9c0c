"""Sub-models that train apart: which sentences each gets, which words it trains, and how a model learns from them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command_line import train, write_corpus
from support.contract import PURE_MODES, SMALL, assert_equal_models, assert_finite, topic_gap, two_topics
from support.epoch_vectors import EpochVectors
from support.example_blocks import SETTINGS, maker_from, random_tables, read, work_on
from support.mode_cases import MODE_NAMES
from support.placements import shared_cluster

from gensim_tfw2v import TFWord2Vec, encode_corpus
from gensim_tfw2v.blocks.batches import BatchShape, BlockMaker, Windows
from gensim_tfw2v.blocks.chunk_task import ChunkTask, prepare
from gensim_tfw2v.blocks.huffman import build_huffman_tree
from gensim_tfw2v.blocks.sampling import NegativeSampler
from gensim_tfw2v.cluster.connection import connect
from gensim_tfw2v.corpus.positions import PassPosition
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.shards import EncodedCorpus, Span
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.placement.design_arguments import SAMPLINGS
from gensim_tfw2v.placement.partition import submodels
from gensim_tfw2v.placement.partition.draws import Draw, Partition, trained_words
from gensim_tfw2v.placement.partition.placement import PartitionPlacement

PARTITION: dict[str, Any] = {"distribution": "partition", "seed": 3, "submodels": 2}
SENTENCES = two_topics(1500)
CORPUS: dict[str, Any] = {"corpus_iterable": SENTENCES, "total_examples": len(SENTENCES)}


# -- sampling ----------------------------------------------------------------------------------------------------------

LENGTHS = np.random.default_rng(5).integers(1, 40, 20_000).astype(np.int32)
TRAINING = (11, 12, 13, 14, 0)


def drawn(sampling: str, submodel: int, submodels: int = 4, epoch: int = 0, chunk: int = 0) -> np.ndarray:
    """Return which sentences a sub-model trains of one chunk, at a rate of 0.3."""
    return Draw(sampling, 0.3, submodel, submodels).of(LENGTHS, (*TRAINING, epoch, chunk))


def test_equal_shares_have_each_sentence_once_and_as_many_words() -> None:
    shares = np.array([drawn("equal", submodel) for submodel in range(4)])
    np.testing.assert_array_equal(shares.sum(axis=0), 1)
    words = shares @ LENGTHS
    assert np.ptp(words) <= 2 * LENGTHS.max()
    np.testing.assert_array_equal(shares[2], drawn("equal", 2, epoch=3))


@pytest.mark.parametrize("sampling", ["random", "shuffle"])
def test_draws_have_their_rate_and_are_independent(sampling: str) -> None:
    first, second = (drawn(sampling, submodel) for submodel in (0, 1))
    for one in (first, second, drawn(sampling, 0, chunk=1)):
        assert abs(one.mean() - 0.3) < 0.01
    assert abs((first & second).mean() - 0.09) < 0.01
    assert abs((first & drawn(sampling, 0, chunk=1)).mean() - 0.09) < 0.01


def test_a_random_draw_stays_and_a_shuffled_one_is_drawn_anew_in_each_epoch() -> None:
    np.testing.assert_array_equal(drawn("random", 1), drawn("random", 1, epoch=2))
    assert abs((drawn("shuffle", 1) & drawn("shuffle", 1, epoch=2)).mean() - 0.09) < 0.01


@pytest.mark.parametrize("sampling", ["random", "shuffle"])
def test_draws_are_those_of_a_plain_loop(sampling: str) -> None:
    epochs = [] if sampling == "random" else [7]
    generator = np.random.Generator(np.random.Philox(np.random.SeedSequence([*TRAINING, *epochs, 9, 2, 0x64726177])))
    expected = [bool(generator.random() < 0.3) for _ in LENGTHS]
    np.testing.assert_array_equal(drawn(sampling, 2, epoch=7, chunk=9), expected)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_a_share_has_the_words_of_the_drawn_sentences_in_their_order(sampling: str) -> None:
    sentences = Sentences(np.arange(10, dtype=np.int32), np.array([1, 4, 2, 3], np.int32))
    task = ChunkTask(sentences, (*TRAINING, 0, 0), 0.1, 0.05, exact_loss=False)
    draw = Draw(sampling, 0.5, 1, 2)
    share = draw.task_of(task, sentences).content
    lists = np.split(sentences.ids, np.cumsum(sentences.lengths)[:-1])
    is_drawn = draw.of(sentences.lengths, task.entropy)
    expected = [words.tolist() for words, is_own in zip(lists, is_drawn, strict=True) if is_own]
    assert isinstance(share, Sentences)
    assert share.ids.tolist() == [word for words in expected for word in words]
    assert share.lengths.tolist() == [len(words) for words in expected]


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_a_share_of_a_span_is_that_of_its_known_words(sampling: str, tmp_path: Path) -> None:
    """Some sentences have no known word. Draws are those of the others."""
    rng = np.random.default_rng(1)
    words = [[f"w{word}" for word in rng.integers(0, 12, rng.integers(1, 6))] for _ in range(400)]
    (tmp_path / "corpus.txt").write_text("".join(" ".join(sentence) + "\n" for sentence in words), encoding="utf8")
    encode_corpus(tmp_path / "corpus.txt", tmp_path / "encoded")
    reader = EncodedCorpus(tmp_path / "encoded").reader({f"w{word}": 11 - word for word in range(7)})
    span = Span(0, len(words[0]), sum(map(len, words[:350])), 1, 350)
    task = ChunkTask(span, (*TRAINING, 0, 3), 0.1, 0.05, exact_loss=False)
    draw = Draw(sampling, 0.4, 1, 2)
    known = [[11 - int(word[1:]) for word in sentence if int(word[1:]) < 7] for sentence in words[1:350]]
    lists = [sentence for sentence in known if sentence]
    assert len(lists) < len(known)
    is_drawn = draw.of(np.array([len(sentence) for sentence in lists], np.int32), task.entropy)
    expected = [sentence for sentence, is_own in zip(lists, is_drawn, strict=True) if is_own]
    share = draw.task_of(task, reader.read(span))
    assert isinstance(share.content, Sentences)
    assert share.content.ids.tolist() == [word for sentence in expected for word in sentence]
    assert share.content.lengths.tolist() == [len(sentence) for sentence in expected]
    assert share.entropy == (*task.entropy, 1)


def test_a_share_of_no_sentences_is_empty() -> None:
    nothing = Sentences(np.zeros(0, np.int32), np.zeros(0, np.int32))
    for sampling in SAMPLINGS:
        share = Draw(sampling, 0.5, 1, 2).task_of(ChunkTask(nothing, (1, 0, 0), 0.1, 0.1, False), nothing).content
        assert isinstance(share, Sentences)
        assert not share.lengths.size


# -- trained words -----------------------------------------------------------------------------------------------------


def maker_for(skip_gram: bool, tree: bool) -> BlockMaker:
    cumulative = (np.arange(1, 31) * 2**25).astype(np.uint32)
    negatives = None if tree else NegativeSampler(cumulative)
    path = build_huffman_tree(np.arange(30, 0, -1), np.arange(30)) if tree else None
    return BlockMaker(skip_gram, 3, Windows.DRAWN, BatchShape(16, 4, 4), None, negatives, path)


@pytest.mark.parametrize("tree", [False, True])
@pytest.mark.parametrize("skip_gram", [False, True])
def test_words_are_trained_that_have_a_neighbour(skip_gram: bool, tree: bool) -> None:
    rng = np.random.default_rng(2)
    lists = [rng.integers(1, 30, size).tolist() for size in (1, 2, 5, 1, 1, 3, 7, 1)]
    content = Sentences(
        np.array([word for words in lists for word in words], np.int32),
        np.array([len(words) for words in lists], np.int32),
    )
    prepared = prepare(maker_for(skip_gram, tree), ChunkTask(content, (1, 0, 0), 0.1, 0.1, False))
    assert prepared is not None
    expected = {word for words in lists if len(words) > 1 for word in words}
    assert trained_words(prepared.block).tolist() == sorted(expected)


# -- training ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODE_NAMES)
def test_each_mode_learns_on_a_cluster_and_here_with_the_same_bits(mode: str) -> None:
    settings = SMALL | PURE_MODES[mode] | PARTITION | {"batch_words": 1500, "workers": 1}
    on_cluster, here = (TFWord2Vec(SENTENCES, **settings, cluster=cluster) for cluster in (shared_cluster(), None))
    assert_finite(on_cluster)
    assert topic_gap(on_cluster.wv) > 0.5
    assert on_cluster.epoch_losses[-1] < on_cluster.epoch_losses[0]
    assert_equal_models(on_cluster, here)
    for model, workers in ((on_cluster, ["worker 0", "worker 1"]), (here, [None, None])):
        assert model.training_report is not None
        of_submodels = model.training_report["submodels"]
        assert [found["worker"] for found in of_submodels] == workers
        assert [found["lost"] for found in of_submodels] == [0, 0]
        assert sum(found["words"] for found in of_submodels) == pytest.approx(3 * 12 * 1500, rel=0.05)


def test_short_epochs_are_not_merged_for_a_loss_that_would_cost_no_more_than_the_merge(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    merges: list[int] = []
    merge = submodels.merge_tables
    monkeypatch.setattr(submodels, "merge_tables", lambda left, *rest: (merges.append(len(left)), merge(left, *rest)))
    TFWord2Vec(SENTENCES, **SMALL | PARTITION | {"sg": 1, "epochs": 4}, cluster=shared_cluster())
    assert merges == [2]


def test_vectors_that_a_callback_has_changed_are_those_of_all_sub_models() -> None:
    def forget(epoch: int) -> None:
        if epoch == 2:
            model.wv.vectors[:] = 0
            model.syn1neg[:] = 0

    model = TFWord2Vec(**SMALL, **PARTITION, sg=1, alpha=1e-6, min_alpha=1e-6)
    model.build_vocab(SENTENCES)
    model.train(**CORPUS, epochs=3, callbacks=[EpochVectors(forget)])
    assert np.abs(model.wv.vectors).max() < 1e-3


@pytest.mark.parametrize(
    "mode", ["skipgram-negative", *(pytest.param(mode, marks=pytest.mark.slow) for mode in list(PURE_MODES)[1:])]
)
def test_training_goes_on_with_merged_tables_that_fit_each_other(mode: str) -> None:
    """With outputs in other directions than the inputs, the loss would be that of a first epoch, or above."""
    settings = SMALL | PURE_MODES[mode] | PARTITION | {"vector_size": 16, "epochs": 4}
    model = TFWord2Vec(SENTENCES, **settings, sampling_rate=0.8)
    losses = model.epoch_losses
    model.train(**CORPUS, epochs=1, start_alpha=1e-4, end_alpha=1e-4)
    assert model.epoch_losses[0] < losses[-1] + 0.2 * (losses[0] - losses[-1])


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_rates_are_the_shares_that_are_trained(sampling: str) -> None:
    rate = {} if sampling == "equal" else {"sampling_rate": 0.8}
    settings = SMALL | PARTITION | {"sg": 1, "epochs": 1, "submodels": 3, "sampling": sampling, "merge": "average"}
    model = TFWord2Vec(SENTENCES, **settings, **rate)
    assert model.training_report is not None
    words = [found["words"] for found in model.training_report["submodels"]]
    np.testing.assert_allclose(words, 12 * 1500 * rate.get("sampling_rate", 1 / 3), rtol=0.1)
    if sampling == "equal":
        assert sum(words) == 12 * 1500


def test_a_report_has_the_tables_that_workers_send_to_be_merged() -> None:
    model = TFWord2Vec(SENTENCES, **SMALL | PARTITION | {"sg": 1, "epochs": 1}, cluster=shared_cluster())
    assert model.training_report is not None
    sent = [model.training_report["tasks"][f"worker {number}"]["sent_bytes"] for number in range(2)]
    assert min(sent) >= model.wv.vectors.nbytes + model.syn1neg.nbytes


def test_words_that_no_sub_model_was_given_keep_their_first_vectors() -> None:
    sentences = [*two_topics(200), ["alone"]]
    model = TFWord2Vec(**SMALL | PARTITION | {"sg": 1})
    model.build_vocab(sentences)
    before = model.wv["alone"].copy()
    model.train(sentences, total_examples=len(sentences), epochs=2)
    np.testing.assert_array_equal(model.wv["alone"], before)


def test_a_worker_draws_its_share_of_an_encoded_corpus(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text("".join(" ".join(sentence) + "\n" for sentence in SENTENCES), encoding="utf8")
    encode_corpus(path, tmp_path / "encoded")
    settings = SMALL | PARTITION | {"sg": 1, "batch_words": 1500, "workers": 1, "submodels": 3, "epochs": 1}
    models = [
        TFWord2Vec(corpus_file=str(corpus), **settings, cluster=cluster)
        for corpus, cluster in ((tmp_path / "encoded", shared_cluster()), (tmp_path / "encoded", None))
    ]
    assert_equal_models(*models)
    assert models[0].training_report is not None
    workers = [found["worker"] for found in models[0].training_report["submodels"]]
    assert workers == ["worker 0", "worker 1", "worker 0"]


def test_chunks_that_a_resumed_epoch_has_left_are_trained_in_their_order() -> None:
    def trained(chunks: Sequence[int], seconds_between: float) -> ModelTables:
        partition = Partition(2, "shuffle", 0.7, "average")
        placement = PartitionPlacement(SETTINGS, maker_from(0), connect(shared_cluster()), 60.0, partition)
        with closing(placement), ThreadPoolExecutor(len(chunks)) as threads:
            placement.load(random_tables())
            placement.begin_epoch(0, PassPosition(5, missing=(1, 3)))
            running = []
            for chunk in chunks:
                task = replace(work_on(0, seed=chunk, rate=0.5), entropy=(*TRAINING, 0, chunk))
                running.append(threads.submit(placement.train_chunk, task))
                time.sleep(seconds_between)
            for one in running:
                one.result(120)
            return read(placement)

    expected, found = trained([1, 3, 5, 6], 0.0), trained([6, 5, 3, 1], 0.3)
    np.testing.assert_array_equal(found.inputs, expected.inputs)
    np.testing.assert_array_equal(found.outputs, expected.outputs)


@pytest.mark.slow
def test_the_command_line_trains_sub_models_with_a_log_and_the_saved_model_trains_on(tmp_path: Path) -> None:
    flags = {"distribution": "partition", "submodels": 3, "sampling": "random", "sampling-rate": 0.5, "merge": "pca"}
    arguments = [argument for name, value in flags.items() for argument in (f"--{name}", value)]
    assert train(write_corpus(tmp_path), tmp_path / "saved.model", *arguments, "--logdir", tmp_path / "log") == 0
    assert list((tmp_path / "log").glob("events*"))
    model = TFWord2Vec.load(tmp_path / "saved.model")
    assert {name: getattr(model, name.replace("-", "_")) for name in flags} == flags
    assert len(model.training_report["submodels"]) == 3
    model.train([["cat", "dog"]] * 50, total_examples=50, epochs=1)
    assert_finite(model)
