"""Trainings whose draws the device makes: counts, losses, checkpoints and reports are those of any training.

Here the CPU is the device that draws.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.contract import PURE_MODES, SENTENCE_WORDS, SENTENCES, SMALL, assert_equal_models, topic_gap, two_topics
from support.error_table import cases_under
from support.mode_cases import MODE_NAMES
from support.resumed_training import SENTENCES as TO_RESUME
from support.resumed_training import Interrupted, train, untrained
from support.stopping import StopError, stop

from gensim_tfw2v import TFWord2Vec, encode_corpus, tuning
from gensim_tfw2v.blocks.sampling import keep_probabilities
from gensim_tfw2v.corpus.shards import ShardReader, Span
from gensim_tfw2v.placement.local.calls import calls_that_draw
from gensim_tfw2v.placement.local.choice import choose_local, draws_for
from gensim_tfw2v.placement.local.kept_chunks import KeptChunks
from gensim_tfw2v.placement.request import CorpusSize, Draws, LocalRequest, TrainingOptions
from gensim_tfw2v.runtime.devices import THE_CPU, Device

MESSAGES = cases_under("Devices")
A_GPU = Device("gpu", 0, "/device:GPU:0")


@pytest.fixture(autouse=True)
def _the_device_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFW2V_DRAWS", "device")


def test_gpus_draw_for_themselves_and_cpus_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TFW2V_DRAWS")
    assert (draws_for(THE_CPU), draws_for(A_GPU)) == (Draws.HOST, Draws.DEVICE)


def test_the_environment_says_where_draws_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("host", "device"):
        monkeypatch.setenv("TFW2V_DRAWS", name)
        assert [draws_for(device).value for device in (THE_CPU, A_GPU)] == [name, name]


def test_a_place_that_does_not_exist_is_an_error_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TFW2V_DRAWS", "gpu")
    with pytest.raises(ValueError) as raised:
        TFWord2Vec(SENTENCES, **SMALL)
    assert all(part in str(raised.value) for part in MESSAGES["a place of draws that does not exist"])


def test_blocks_are_large_and_one_worker_trains_them_in_order() -> None:
    options = TrainingOptions(distribution="downpour", workers=1, skip_gram=True, tree=False, timeout=60.0)
    choice = choose_local(LocalRequest(CorpusSize(10**9, 1), options, THE_CPU))
    assert (choice.block_words, choice.draws, choice.cores) == (tuning.MOST_DRAWN_BLOCK_WORDS, Draws.DEVICE, 1)
    assert [(calls_that_draw(workers).at_once, calls_that_draw(workers).threads) for workers in (0, 1, 2, 9)] == [
        (1, 1),
        (1, 1),
        (1, 2),
        (1, 2),
    ]


def test_one_seed_gives_the_same_vectors_again_and_another_one_does_not() -> None:
    first, again, other = (
        TFWord2Vec(SENTENCES, **SMALL | {"sample": 0.05}, workers=1, seed=seed, batch_words=200) for seed in (1, 1, 2)
    )
    assert_equal_models(first, again)
    assert not np.array_equal(first.wv.vectors, other.wv.vectors)
    assert first.training_report == {"device": "cpu", "draws": "device", "optimizer": "adagrad"}


@pytest.mark.parametrize("name", MODE_NAMES)
def test_topics_are_learnt_and_words_and_losses_are_counted(name: str) -> None:
    model = TFWord2Vec(
        **{"vector_size": 12, "min_count": 1, "sample": 0.01, "workers": 1, "epochs": 6, "alpha": 0.05},
        **PURE_MODES[name],
    )
    sentences = two_topics()
    model.build_vocab(sentences)
    trained, raw = model.train(sentences, total_examples=model.corpus_count, epochs=model.epochs, compute_loss=True)
    keep = keep_probabilities(model.wv, model.sample)
    assert keep is not None
    counts = np.array([model.wv.get_vecattr(word, "count") for word in model.wv.index_to_key])
    expected = model.epochs * float(counts @ keep)
    assert raw == model.epochs * model.corpus_total_words
    assert abs(trained - expected) < 6 * np.sqrt(model.epochs * float(counts @ (keep * (1 - keep))))
    assert topic_gap(model.wv) > 0.5
    assert model.epoch_losses[-1] < model.epoch_losses[0]


def test_all_words_are_trained_without_subsampling() -> None:
    model = TFWord2Vec(**SMALL, workers=2)
    model.build_vocab(SENTENCES)
    found = model.train(SENTENCES, total_examples=model.corpus_count, epochs=2)
    assert found == (2 * SENTENCE_WORDS, 2 * SENTENCE_WORDS)


def test_a_resumed_training_gives_the_vectors_of_one_that_was_not_interrupted(tmp_path: Path) -> None:
    mode = "skipgram-negative"
    whole = train(untrained(mode))
    model = untrained(mode, checkpoint_dir=tmp_path, cache_memory=0)
    with pytest.raises(StopError):
        train(model, Interrupted(11_000, stop))
    resumed = TFWord2Vec.resume(tmp_path, TO_RESUME)
    assert_equal_models(whole, resumed)
    assert resumed.epoch_losses == whole.epoch_losses


@pytest.mark.slow
def test_a_training_may_resume_with_draws_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = untrained("skipgram-negative", checkpoint_dir=tmp_path, cache_memory=0)
    with pytest.raises(StopError):
        train(model, Interrupted(11_000, stop))
    monkeypatch.setenv("TFW2V_DRAWS", "host")
    resumed = TFWord2Vec.resume(tmp_path, TO_RESUME)
    assert topic_gap(resumed.wv) > 0.5


def test_an_encoded_corpus_is_read_and_sent_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = tmp_path / "corpus.txt"
    text.write_text("\n".join(" ".join(sentence) for sentence in SENTENCES), encoding="utf8")
    encode_corpus(text, tmp_path / "encoded")
    read: list[Span] = []
    of_reader = ShardReader.read

    def counted(reader: ShardReader, span: Span) -> Any:
        read.append(span)
        return of_reader(reader, span)

    monkeypatch.setattr(ShardReader, "read", counted)
    settings: dict[str, Any] = {**SMALL, "workers": 1, "batch_words": 200}
    encoded = TFWord2Vec(corpus_file=str(tmp_path / "encoded"), **settings)
    assert len(read) == len(set(read)) > 1
    assert_equal_models(encoded, TFWord2Vec(corpus_file=str(text), **settings))
    monkeypatch.setattr(KeptChunks.__init__, "__defaults__", (0,))  # of no bytes
    read.clear()
    assert_equal_models(encoded, TFWord2Vec(corpus_file=str(tmp_path / "encoded"), **settings))
    assert len(read) == settings["epochs"] * len(set(read))


def test_as_many_chunks_stay_as_fit() -> None:
    spans = [Span(0, number, number + 1, number, number + 1) for number in range(3)]
    kept = KeptChunks(most_bytes=100)
    for span, size in zip(spans, (60, 50, 40), strict=True):
        kept.keep(span, f"tensors of {span.first_word}", size)
    assert [kept.get(span) for span in spans] == ["tensors of 0", None, "tensors of 2"]
    assert kept.get("a chunk of text") is None
    kept.clear()
    kept.keep(spans[0], "tensors", 1)
    assert kept.get(spans[0]) is None
