"""`validation=` and `early_stopping=`: what is held out and measured, and which vectors the model has at the end."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import Word2Vec
from support.contract import PURE_MODES, SENTENCES, assert_equal_models, assert_equal_states
from support.overfitting import EPOCHS, OTHERS, SETTINGS, TRAINED, Snapshots, assert_learnt, sentences

from gensim_tfw2v import EarlyStopping, TFWord2Vec, encode_corpus
from gensim_tfw2v.model.validation import measured_now

SMALL: dict[str, Any] = {"vector_size": 8, "min_count": 1, "sample": 0, "epochs": 3, "workers": 1}


def write(path: Path, lines: list[list[str]]) -> Path:
    path.write_text("".join(" ".join(line) + "\n" for line in lines), encoding="utf8")
    return path


@pytest.fixture(scope="module")
def overfitted() -> tuple[TFWord2Vec, Snapshots]:
    """Return a model that was trained too long, and what it had learnt after each epoch."""
    snapshots = Snapshots()
    return TFWord2Vec(TRAINED, validation=OTHERS, callbacks=[snapshots], **SETTINGS), snapshots


# -- what is measured --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["skipgram-hierarchical", "cbow-hierarchical"])
def test_the_loss_with_the_tree_is_minus_gensims_score(mode: str) -> None:
    """gensim's `score` adds up log probabilities of whole windows, whose table rounds each score down."""
    model = TFWord2Vec(TRAINED, validation=OTHERS, **SETTINGS | PURE_MODES[mode] | {"epochs": 3})
    plain = model.to_gensim()
    pairs = sum(len(line) * (len(line) - 1 if model.sg else 1) for line in OTHERS)
    expected = -plain.score(OTHERS, total_sentences=len(OTHERS)).sum() / pairs
    assert model.validation_losses[-1] == pytest.approx(expected, rel=0.04)


def test_untrained_vectors_have_the_loss_of_chance() -> None:
    model = TFWord2Vec(TRAINED, validation=OTHERS, **SETTINGS | {"epochs": 1, "alpha": 1e-12, "min_alpha": 1e-12})
    # Output vectors begin as zeros: each score is 0. About 1/40 of the negatives equal their target and do not count.
    assert model.validation_losses == pytest.approx([6 * np.log(2)], rel=0.03)


def test_a_file_an_iterable_and_an_encoded_corpus_have_the_same_loss(tmp_path: Path) -> None:
    path = write(tmp_path / "others.txt", OTHERS)
    encode_corpus(path, tmp_path / "encoded")
    losses = [
        TFWord2Vec(TRAINED, validation=validation, **SETTINGS | {"epochs": 2}).validation_losses
        for validation in (OTHERS, iter(OTHERS), path, str(path), tmp_path / "encoded")
    ]
    assert losses == [losses[0]] * 5


def test_measuring_leaves_the_vectors_as_they_are() -> None:
    plain, measured = (TFWord2Vec(TRAINED, validation=chosen, **SETTINGS) for chosen in (None, OTHERS))
    assert_equal_models(plain, measured)
    assert len(measured.validation_losses) == EPOCHS
    assert plain.validation_losses == []


@pytest.mark.parametrize("metric", ["loss", "hits@10", "ndcg@10"])
def test_what_is_measured_of_a_trained_model_is_what_its_training_measured_last(metric: str, tmp_path: Path) -> None:
    path = write(tmp_path / "others.txt", OTHERS)
    model = TFWord2Vec(TRAINED, validation=path, validation_metric=metric, **SETTINGS | {"epochs": 2})
    measured = {"loss": model.validation_losses, **model.validation_scores}[metric]
    assert measured_now(model, str(path), metric) == measured[-1]


def test_sentences_without_two_known_words_cannot_be_measured() -> None:
    model = TFWord2Vec(TRAINED, **SETTINGS | {"epochs": 1})
    for metric in ("loss", "hits@10"):
        with pytest.raises(ValueError, match="validation is a list, and none of its 0 sentences has two words"):
            measured_now(model, [["nobody", "knows"]], metric)


def test_callbacks_see_the_losses_up_to_their_epoch(overfitted: tuple[TFWord2Vec, Snapshots]) -> None:
    model, snapshots = overfitted
    assert snapshots.losses == [model.validation_losses[: epoch + 1] for epoch in range(EPOCHS)]


def test_losses_are_those_of_the_last_training() -> None:
    model = TFWord2Vec(TRAINED, validation=OTHERS, **SETTINGS | {"epochs": 3})
    model.train(TRAINED, total_examples=len(TRAINED), epochs=2)
    assert len(model.validation_losses) == 2
    model.validation = None
    model.train(TRAINED, total_examples=len(TRAINED), epochs=1)
    assert model.validation_losses == []


def test_train_takes_sentences_of_its_own() -> None:
    model = TFWord2Vec(TRAINED, **SETTINGS | {"epochs": 1})
    model.train(TRAINED, total_examples=len(TRAINED), epochs=2, validation=OTHERS)
    assert len(model.validation_losses) == 2
    assert model.validation is None


def test_the_report_says_what_the_loss_was_measured_on() -> None:
    model = TFWord2Vec(TRAINED, validation=OTHERS, **SETTINGS | {"epochs": 2})
    assert model.training_report is not None
    found = model.training_report["validation"]
    assert found["pairs"] == 30 * len(OTHERS)
    assert (found["sentences"], found["words"]) == (len(OTHERS), 6 * len(OTHERS))
    assert found["best_epoch"] == int(np.argmin(model.validation_losses))
    assert found["ended_early"] is False


def test_losses_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        model = TFWord2Vec(TRAINED, validation=OTHERS, **SETTINGS | {"epochs": 2})
    for epoch, loss in enumerate(model.validation_losses):
        assert f"EPOCH {epoch}: validation loss {loss:.4f}" in caplog.messages


# -- what is held out --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cache_memory", [0, 2**20])
@pytest.mark.parametrize("from_file", [False, True])
def test_a_share_of_the_sentences_is_not_trained(from_file: bool, cache_memory: int, tmp_path: Path) -> None:
    corpus: dict[str, Any] = {"sentences": OTHERS}
    if from_file:
        corpus = {"corpus_file": str(write(tmp_path / "corpus.txt", OTHERS))}
    model = TFWord2Vec(**corpus, validation=0.25, cache_memory=cache_memory, **SETTINGS | {"epochs": 2})
    assert model.training_report is not None
    found = model.training_report["validation"]
    assert found["sentences"] == pytest.approx(100, abs=35)
    assert model.corpus_count == len(OTHERS)
    given = {"total_examples": model.corpus_count, "total_words": model.corpus_total_words}
    again = {"corpus_file": corpus["corpus_file"]} if from_file else {"corpus_iterable": OTHERS}
    _, raw_words = model.train(**again, **given, epochs=2)
    assert raw_words == 2 * (model.corpus_total_words - found["words"])


def test_words_of_held_out_sentences_are_in_the_vocabulary() -> None:
    lines = [["rare", f"word{number}"] for number in range(50)]
    model = TFWord2Vec(lines, validation=0.3, **SMALL)
    assert len(model.wv) == 51


def test_the_learning_rate_reaches_its_end_without_the_held_out_sentences() -> None:
    settings = SETTINGS | {"alpha": 0.1, "min_alpha": 0.01, "epochs": 2, "batch_words": 60}
    model = TFWord2Vec(OTHERS, validation=0.5, **settings)
    assert model.min_alpha_yet_reached == pytest.approx(0.01, abs=2e-3)


def test_two_trainings_with_one_seed_hold_the_same_sentences_out() -> None:
    first, again, other = (
        TFWord2Vec(OTHERS, validation=0.1, seed=seed, **SETTINGS | {"epochs": 1}) for seed in (1, 1, 2)
    )
    assert first.validation_losses == again.validation_losses
    assert first.validation_losses != other.validation_losses
    assert_equal_models(first, again)


def test_vectors_with_a_share_held_out_are_those_of_the_other_sentences() -> None:
    """Words keep their counts, so the model is made of all sentences and then trained on some."""
    held_out = TFWord2Vec(OTHERS, validation=0.2, **SETTINGS | {"epochs": 2})
    model = TFWord2Vec(**SETTINGS | {"epochs": 2})
    model.build_vocab(OTHERS)
    from gensim_tfw2v.model.choices import entropy_of
    from gensim_tfw2v.model.validation import hold_out_for

    hold_out = hold_out_for(0.2, entropy_of(model))
    assert hold_out is not None
    is_out = hold_out.chosen(np.arange(len(OTHERS)))
    trained = [line for line, out in zip(OTHERS, is_out, strict=True) if not out]
    model.train(trained, total_examples=len(trained), epochs=2)
    assert_equal_models(held_out, model)


class Lines:
    """Sentences that can be read so many times."""

    def __init__(self, passes: int) -> None:
        self.passes = passes

    def __iter__(self) -> Iterator[list[str]]:
        self.passes -= 1
        assert self.passes >= 0
        return iter(OTHERS)


def test_a_corpus_that_fits_the_cache_is_counted_read_once_and_compared() -> None:
    model = TFWord2Vec(**SETTINGS | {"epochs": 5})
    lines = Lines(passes=3)
    model.build_vocab(lines)
    model.train(lines, total_examples=model.corpus_count, epochs=5, validation=0.1)
    assert lines.passes == 0


# -- early stopping ----------------------------------------------------------------------------------------------------


def test_the_planted_corpus_overfits(overfitted: tuple[TFWord2Vec, Snapshots]) -> None:
    losses = overfitted[0].validation_losses
    best = int(np.argmin(losses))
    assert 2 <= best < EPOCHS // 2
    assert losses[-1] > losses[best] + 0.05 < losses[0]


@pytest.mark.parametrize("patience", [1, 3])
def test_early_stopping_ends_at_the_best_epoch_bit_for_bit(
    patience: int, overfitted: tuple[TFWord2Vec, Snapshots]
) -> None:
    long, snapshots = overfitted
    stopping = EarlyStopping(patience)
    model = TFWord2Vec(TRAINED, validation=OTHERS, early_stopping=patience, **SETTINGS)
    trained = len(model.validation_losses)
    assert stopping.is_over(long.validation_losses[:trained])
    assert not stopping.is_over(long.validation_losses[: trained - 1])
    assert model.validation_losses == long.validation_losses[:trained]
    best = stopping.best(model.validation_losses)
    assert best == trained - 1 - patience
    assert_learnt(model, snapshots.learnt[best])
    alone = TFWord2Vec(TRAINED, **SETTINGS | {"epochs": best + 1})
    assert_equal_models(model, alone)


def test_the_best_epochs_optimizer_states_are_given_back_with_its_vectors() -> None:
    settings = SETTINGS | {"optimizer": "adagrad"}
    model = TFWord2Vec(TRAINED, validation=OTHERS, early_stopping=2, **settings)
    best = int(np.argmin(model.validation_losses))
    assert best + 1 < model.epochs
    alone = TFWord2Vec(TRAINED, **settings | {"epochs": best + 1})
    assert_equal_models(model, alone)
    assert_equal_states(model, alone)


def test_epochs_and_counts_are_those_that_were_trained() -> None:
    model = TFWord2Vec(**SETTINGS)
    model.build_vocab(TRAINED)
    _, raw_words = model.train(TRAINED, total_examples=len(TRAINED), epochs=EPOCHS, validation=OTHERS, early_stopping=2)
    epochs = len(model.validation_losses)
    assert 2 < epochs < EPOCHS
    assert model.epochs == epochs == len(model.epoch_losses)
    assert raw_words == epochs * model.corpus_total_words
    assert model.train_count == 1
    assert model.training_report is not None
    assert model.training_report["validation"]["ended_early"] is True


def test_the_best_epochs_vectors_are_given_back_after_the_last_epoch_too(
    overfitted: tuple[TFWord2Vec, Snapshots],
) -> None:
    long, snapshots = overfitted
    model = TFWord2Vec(TRAINED, validation=OTHERS, early_stopping=EPOCHS, **SETTINGS)
    assert model.validation_losses == long.validation_losses
    assert model.epochs == EPOCHS
    assert_learnt(model, snapshots.learnt[int(np.argmin(long.validation_losses))])


def test_callbacks_see_the_vectors_of_their_epoch_and_the_best_ones_at_the_end(
    overfitted: tuple[TFWord2Vec, Snapshots],
) -> None:
    class Ending(Snapshots):
        def on_train_end(self, model: Any) -> None:
            self.end = model.wv.vectors.copy()

    ending = Ending()
    model = TFWord2Vec(TRAINED, validation=OTHERS, early_stopping=2, callbacks=[ending], **SETTINGS)
    for found, expected in zip(ending.learnt, overfitted[1].learnt, strict=False):
        np.testing.assert_array_equal(found["vectors"], expected["vectors"])
    assert len(ending.learnt) == len(model.validation_losses)
    np.testing.assert_array_equal(ending.end, model.wv.vectors)
    best = int(np.argmin(model.validation_losses))
    np.testing.assert_array_equal(ending.end, ending.learnt[best]["vectors"])


def test_queries_use_the_vectors_that_were_given_back() -> None:
    class Asking(Snapshots):
        def on_epoch_end(self, model: Any) -> None:
            model.wv.most_similar("w00")  # which computes lengths of vectors

    model = TFWord2Vec(TRAINED, validation=OTHERS, early_stopping=2, callbacks=[Asking()], **SETTINGS)
    lengths = np.linalg.norm(model.wv.get_normed_vectors(), axis=1)
    np.testing.assert_allclose(lengths, 1, rtol=1e-5)


def test_the_end_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        model = TFWord2Vec(TRAINED, validation=OTHERS, early_stopping=EarlyStopping(2, 0.001), **SETTINGS)
    (line,) = [message for message in caplog.messages if message.startswith("training ends after")]
    epochs = len(model.validation_losses)
    assert f"after {epochs} epochs" in line
    assert f"EPOCH {epochs - 3}" in line


def test_a_model_that_ended_early_is_saved_for_plain_gensim_and_trains_on(tmp_path: Path) -> None:
    model = TFWord2Vec(TRAINED, validation=OTHERS, early_stopping=2, **SETTINGS)
    model.save(str(tmp_path / "model"))
    assert type(Word2Vec.load(str(tmp_path / "model"))) is Word2Vec
    loaded = TFWord2Vec.load(str(tmp_path / "model"))
    assert_equal_models(loaded, model)
    assert loaded.validation_losses == model.validation_losses
    assert (loaded.validation, loaded.early_stopping) == (None, None)
    assert pickle.loads(pickle.dumps(model)).validation_losses == model.validation_losses
    loaded.train(TRAINED, total_examples=len(TRAINED), epochs=1)


@pytest.mark.parametrize("mode", PURE_MODES)
def test_every_mode_gives_back_its_best_epoch(mode: str) -> None:
    snapshots, settings = Snapshots(), SETTINGS | PURE_MODES[mode] | {"epochs": 6, "alpha": 0.5, "min_alpha": 0.5}
    model = TFWord2Vec(TRAINED, validation=sentences(50, 9), early_stopping=6, callbacks=[snapshots], **settings)
    assert_learnt(model, snapshots.learnt[int(np.argmin(model.validation_losses))])


# -- the next item of sessions -----------------------------------------------------------------------------------------

PATHS = [[f"page{(start + step) % 60}" for step in range(6)] for start in range(60)] * 4  # pages in a ring


def hits(model: Any, sessions: list[list[str]]) -> float:
    """Return the share of sessions whose last item is among the ten with the largest output products."""
    found = 0
    for *before, target in sessions:
        expected = np.mean([model.wv[item] for item in before[-model.window :]], axis=0)
        scores = model.syn1neg @ expected
        found += target in [model.wv.index_to_key[place] for place in np.argsort(-scores)[:10]]
    return found / len(sessions)


def test_the_hit_rate_is_that_of_the_last_items_of_sessions() -> None:
    settings = SMALL | {"epochs": 15, "window": 3, "sg": 1, "alpha": 0.05}
    model = TFWord2Vec(PATHS, validation=PATHS[:60], validation_metric="hits@10", **settings)
    of_epochs = model.validation_scores["hits@10"]
    assert len(of_epochs) == len(model.validation_losses) == len(model.validation_scores["ndcg@10"]) == 15
    assert of_epochs[-1] == pytest.approx(hits(model, PATHS[:60]))
    assert of_epochs[-1] > 0.8 > 0.4 > of_epochs[0]
    assert all(0 <= ndcg <= rate for ndcg, rate in zip(model.validation_scores["ndcg@10"], of_epochs, strict=True))
    assert model.training_report is not None
    assert model.training_report["validation"]["next_words"] == 60


def test_the_metric_decides_which_epoch_is_the_best() -> None:
    snapshots = Snapshots()
    model = TFWord2Vec(
        TRAINED,
        validation=OTHERS,
        validation_metric="ndcg@10",
        early_stopping=EPOCHS,
        callbacks=[snapshots],
        **SETTINGS | {"epochs": 10},
    )
    assert_learnt(model, snapshots.learnt[int(np.argmax(model.validation_scores["ndcg@10"]))])


def test_scores_are_empty_without_the_metric(overfitted: tuple[TFWord2Vec, Snapshots]) -> None:
    assert overfitted[0].validation_scores == {}


def test_a_model_may_get_its_validation_sentences_later() -> None:
    settings = SETTINGS | {"validation_metric": "hits@10", "early_stopping": 1}
    model = TFWord2Vec(**settings)
    model.build_vocab(TRAINED)
    model.train(TRAINED, total_examples=len(TRAINED), epochs=3, validation=OTHERS)
    assert len(model.validation_scores["hits@10"]) == len(model.validation_losses)
    with pytest.raises(ValueError, match=r"early_stopping=.* needs validation sentences, and validation is None"):
        model.train(TRAINED, total_examples=len(TRAINED), epochs=1)


# -- what is refused ---------------------------------------------------------------------------------------------------


def test_sentences_without_a_pair_of_known_words_are_refused() -> None:
    with pytest.raises(ValueError, match="validation is a list, and its 2 sentences have no two words"):
        TFWord2Vec(SENTENCES, validation=[["human", "nobody"], ["knows", "them"]], **SMALL)


def test_a_generator_cannot_be_trained_and_held_out() -> None:
    model = TFWord2Vec(**SMALL)
    model.build_vocab(SENTENCES)
    with pytest.raises(TypeError, match="generator"):
        model.train((line for line in SENTENCES), total_examples=len(SENTENCES), epochs=1, validation=0.1)


def test_a_share_of_an_encoded_corpus_is_refused(tmp_path: Path) -> None:
    encode_corpus(write(tmp_path / "corpus.txt", SENTENCES), tmp_path / "encoded")
    with pytest.raises(ValueError, match=r"validation=0.1 .* encoded corpus"):
        TFWord2Vec(corpus_file=str(tmp_path / "encoded"), validation=0.1, **SMALL)
