"""TFFastText is gensim's FastText: its arguments, files and vectors, trained here, resumed and on a cluster."""

from __future__ import annotations

import inspect
import pickle
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import FastText, Word2Vec
from gensim.models import fasttext as gensims_module
from gensim.models.callbacks import CallbackAny2Vec
from gensim.models.fasttext import FastTextKeyedVectors, save_facebook_model
from gensim.models.fasttext_inner import compute_ngrams
from gensim.test.utils import datapath
from support.contract import PURE_MODES, topic_gap, two_topics
from support.placements import shared_cluster
from support.stopping import StopError, StopInSecondPass

from gensim_tfw2v import TFFastText, TFWord2Vec, fasttext, load_facebook_model
from gensim_tfw2v.model.own_arguments import OWN_ARGUMENTS
from gensim_tfw2v.model.validation import measured_now

SENTENCES = two_topics(1500)
SETTINGS: dict[str, Any] = {"vector_size": 16, "bucket": 3000, "min_count": 1, "workers": 1, "seed": 3, "epochs": 3}
EACH_MODE = pytest.mark.parametrize("mode", PURE_MODES.values(), ids=PURE_MODES)


def trained(**settings: Any) -> TFFastText:
    """Return a model of the two topics."""
    return TFFastText(SENTENCES, **SETTINGS | settings)


def arrays_of(model: Any) -> dict[str, np.ndarray]:
    """Return all that training changes."""
    found = {name: getattr(model.wv, name) for name in ("vectors", "vectors_vocab", "vectors_ngrams")}
    return found | {name: getattr(model, name) for name in ("syn1", "syn1neg") if hasattr(model, name)}


def assert_equal(one: Any, other: Any) -> None:
    """Fail unless two models have learnt the same, bit for bit."""
    for name, array in arrays_of(one).items():
        assert array.tobytes() == arrays_of(other)[name].tobytes(), name


def assert_knows_topics(vectors: Any, margin: float = 0.0) -> None:
    """Fail unless words of a topic are alike, and new words like those whose n-grams they have."""
    assert topic_gap(vectors) > 1.2
    for new, of_it, others in (("cats", "cat", "dog"), ("dogged", "dog", "cat")):
        assert new not in vectors.key_to_index
        of_topic, of_other = (vectors.n_similarity([new], [f"{topic}7"]) for topic in (of_it, others))
        assert of_topic > of_other + margin


@EACH_MODE
def test_words_of_a_topic_and_new_words_with_their_ngrams_are_alike(mode: dict[str, int]) -> None:
    # Adagrad moves rows of frequent n-grams less than words' own.
    assert_knows_topics(trained(**mode, optimizer="adagrad", epochs=8).wv)
    assert_knows_topics(trained(**mode, optimizer="sgd", alpha=0.05, epochs=8).wv, margin=0.7)  # gensim's: 0.8 to 1.5


@EACH_MODE
def test_one_seed_gives_the_same_vectors_twice(mode: dict[str, int]) -> None:
    assert_equal(trained(**mode), trained(**mode))


def test_its_arguments_are_gensims_and_then_our_own() -> None:
    parameters = inspect.signature(TFFastText).parameters
    gensims = inspect.signature(FastText).parameters
    assert list(parameters) == [*gensims, *(argument.name for argument in OWN_ARGUMENTS)]
    assert all(parameters[name].default == gensims[name].default for name in gensims)
    with pytest.raises(TypeError, match=r"TFFastText\(\) got an unexpected keyword argument 'buckets'"):
        TFFastText(buckets=5)
    model = TFFastText(SENTENCES, None, 1, 0, 12, min_count=1, bucket=100)
    assert (model.sg, model.vector_size) == (1, 12)
    assert isinstance(model, TFWord2Vec) and isinstance(model, FastText)


def test_rows_of_ngrams_that_no_word_has_stay_as_they_are() -> None:
    model = TFFastText(**SETTINGS)
    model.build_vocab(SENTENCES)
    before = model.wv.vectors_ngrams.copy()
    model.train(SENTENCES, total_examples=model.corpus_count, epochs=1)
    used = np.unique(np.concatenate(model.wv.buckets_word))
    moved = (model.wv.vectors_ngrams != before).any(1)
    assert moved.tolist() == np.isin(np.arange(len(before)), used).tolist()


def test_word_vectors_are_the_means_of_their_rows() -> None:
    model = trained()
    for word in ("cat3", "dog11"):
        number = model.wv.key_to_index[word]
        rows = [model.wv.vectors_vocab[number], *model.wv.vectors_ngrams[model.wv.buckets_word[number]]]
        np.testing.assert_allclose(model.wv[word], np.mean(rows, 0), rtol=1e-5)


def test_locked_rows_stay_and_others_move() -> None:
    model = TFFastText(**SETTINGS)
    model.build_vocab(SENTENCES)
    before = {name: array.copy() for name, array in arrays_of(model).items()}
    model.wv.vectors_vocab_lockf = np.zeros(len(model.wv), np.float32)
    model.wv.vectors_ngrams_lockf = np.ones(1, np.float32)
    model.train(SENTENCES, total_examples=model.corpus_count, epochs=1)
    assert (model.wv.vectors_vocab == before["vectors_vocab"]).all()
    assert (model.wv.vectors_ngrams != before["vectors_ngrams"]).any()


@pytest.mark.parametrize("freeze", ["inputs", "outputs"])
def test_frozen_matrices_stay_as_they_are(freeze: str) -> None:
    model = trained()
    before = {name: array.copy() for name, array in arrays_of(model).items()}
    model.train(SENTENCES, total_examples=model.corpus_count, epochs=1, freeze=freeze)
    frozen = {"inputs": ("vectors", "vectors_vocab", "vectors_ngrams"), "outputs": ("syn1neg",)}[freeze]
    for name, array in arrays_of(model).items():
        if name != "vectors" or freeze == "outputs":
            assert (array == before[name]).all() == (name in frozen), name


def test_files_go_both_ways(tmp_path: Path) -> None:
    model = trained(sg=1)
    model.save(tmp_path / "ours")
    plain = FastText.load(str(tmp_path / "ours"))
    assert type(plain) is FastText
    assert_equal(plain, model)
    plain.save(str(tmp_path / "gensims"))
    again = TFFastText.load(tmp_path / "gensims")
    assert type(again) is TFFastText
    assert_equal(again, model)
    again.train(SENTENCES, total_examples=len(SENTENCES), epochs=1)
    assert_equal(pickle.loads(pickle.dumps(again)), again)


@pytest.mark.parametrize("cls", [TFWord2Vec, TFFastText])
def test_models_of_another_class_are_refused(cls: Any, tmp_path: Path) -> None:
    other = Word2Vec if cls is TFFastText else FastText
    other(SENTENCES, min_count=1, vector_size=4, epochs=1).save(str(tmp_path / "model"))
    with pytest.raises(AttributeError, match=rf"has a {other.__name__}.*open it with TF{other.__name__}\.load"):
        cls.load(str(tmp_path / "model"))


def test_a_file_of_fasttext_is_opened_and_trained_on() -> None:
    model = load_facebook_model(datapath("crime-and-punishment.bin"))
    assert type(model) is TFFastText and model.optimizer == "sgd"
    before = model.wv["landlady"].copy()
    sentences = [["landlady", "landlord"] * 5] * 400  # of which few words are not left out, as the file's `sample` says
    model.build_vocab(sentences[:20], update=True)
    model.train(sentences, total_examples=400, epochs=5)
    assert "landlord" in model.wv.key_to_index and (model.wv["landlady"] != before).any()


@pytest.mark.parametrize("name", ["crime-and-punishment.bin", "toy-model.bin", "toy-model-pretrained.bin"])
def test_a_file_of_fasttext_is_written_again_byte_for_byte(name: str, tmp_path: Path) -> None:
    model = load_facebook_model(datapath(name))
    save_facebook_model(model, str(tmp_path / name))
    assert (tmp_path / name).read_bytes() == Path(datapath(name)).read_bytes()


def test_the_matrices_of_a_file_of_fasttext_are_read_once_and_not_copied() -> None:
    vectors = load_facebook_model(datapath("crime-and-punishment.bin")).wv
    assert vectors.vectors_vocab.base is vectors.vectors_ngrams.base is not None


def test_a_damaged_file_of_fasttext_is_named(tmp_path: Path) -> None:
    content = bytearray(Path(datapath("crime-and-punishment.bin")).read_bytes())
    assert content[40:44] == (100).to_bytes(4, "little")
    content[40:44] = (99).to_bytes(4, "little")  # the number of n-grams' vectors
    (tmp_path / "damaged.bin").write_bytes(content)
    with pytest.raises(ValueError, match=r"damaged.bin' has 391 vectors for 291 words and 99 n-grams; it is damaged"):
        load_facebook_model(tmp_path / "damaged.bin")


def test_a_file_of_another_tree_is_opened_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    content = bytearray(Path(datapath("crime-and-punishment.bin")).read_bytes())
    assert content[32:36] == (2).to_bytes(4, "little")
    content[32:36] = (1).to_bytes(4, "little")  # the loss
    (tmp_path / "tree.bin").write_bytes(content)
    assert load_facebook_model(datapath("crime-and-punishment.bin")).hs == 0 and not caplog.records
    assert load_facebook_model(tmp_path / "tree.bin").hs == 1
    assert "tree.bin was trained by hierarchical softmax" in caplog.text


def without_gensims_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have gensim's loops over all words and n-grams fail."""

    def loop(*_: Any) -> None:
        raise AssertionError("gensim's loop")

    for name in ("recalc_char_ngram_buckets", "adjust_vectors"):
        monkeypatch.setattr(FastTextKeyedVectors, name, loop)
    monkeypatch.setattr(gensims_module, "ft_ngram_hashes", loop)


def test_files_are_opened_without_gensims_loops_over_ngrams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = trained(epochs=1)
    model.save(tmp_path / "model")
    save_facebook_model(model, str(tmp_path / "model.bin"))
    without_gensims_loops(monkeypatch)
    for opened in (TFFastText.load(tmp_path / "model"), load_facebook_model(tmp_path / "model.bin")):
        assert_equal(opened, model)
        assert not {"recalc_char_ngram_buckets", "adjust_vectors"} & vars(opened.wv).keys()


def test_vocabularies_are_built_without_gensims_loops_over_ngrams(monkeypatch: pytest.MonkeyPatch) -> None:
    gensims = FastText(**SETTINGS)
    gensims.build_vocab(SENTENCES)
    more = [["zebra", "zebras"]]
    reports = [gensims.estimate_memory(), gensims.build_vocab(more, update=True), gensims.estimate_memory()]
    without_gensims_loops(monkeypatch)
    model = TFFastText(**SETTINGS)
    model.build_vocab(SENTENCES)
    assert [model.estimate_memory(), model.build_vocab(more, update=True), model.estimate_memory()] == reports
    for ours, theirs in zip(model.wv.buckets_word, gensims.wv.buckets_word, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_allclose(model.wv.vectors, gensims.wv.vectors, rtol=1e-6)


def test_buckets_can_be_as_many_as_there_are_ngrams(tmp_path: Path) -> None:
    model = TFFastText(**SETTINGS | {"bucket": -1})
    assert model.estimate_memory() == FastText(**SETTINGS | {"bucket": 0}).estimate_memory()
    model.build_vocab(SENTENCES)
    ngrams = {ngram for word in model.wv.index_to_key for ngram in compute_ngrams(word, 3, 6)}
    assert model.wv.vectors_ngrams.shape == (len(ngrams), 16)
    model.train(SENTENCES, total_examples=model.corpus_count, epochs=8)
    assert_knows_topics(model.wv)
    model.build_vocab([["zebra"]], update=True)
    assert model.wv.bucket == len(ngrams)
    model.save(tmp_path / "model")
    assert FastText.load(str(tmp_path / "model")).wv["zebras"].shape == (16,)
    assert TFFastText(SENTENCES, **SETTINGS | {"bucket": -1, "max_n": 0}).wv.bucket == 0
    with pytest.raises(ValueError, match=r"bucket must be .* -1 .*got -2"):
        TFFastText(bucket=-2)


def fits_rows(model: TFFastText) -> bool:
    """Return whether word vectors are those that follow from the rows."""
    found = model.wv.vectors
    fasttext.set_word_vectors(model.wv)
    return bool((model.wv.vectors == found).all())


def test_word_vectors_are_computed_once_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    model = TFFastText(**SETTINGS)
    model.build_vocab(SENTENCES)
    calls: list[Any] = []
    compute = fasttext.set_word_vectors
    monkeypatch.setattr(fasttext, "set_word_vectors", lambda vectors: (calls.append(vectors), compute(vectors)))
    model.train(SENTENCES, total_examples=model.corpus_count, epochs=2, validation=0.1, early_stopping=1)
    assert calls == [model.wv]
    assert fits_rows(model)


def test_word_vectors_fit_their_rows_in_callbacks_and_after_a_training_that_fails() -> None:
    fit: list[bool] = []

    class Check(CallbackAny2Vec):
        def on_epoch_end(self, model: TFFastText) -> None:
            fit.append(fits_rows(model))

    model = trained(callbacks=[Check()])
    before = model.wv.vectors.copy()
    with pytest.raises(StopError):
        model.train(StopInSecondPass(SENTENCES), total_examples=len(SENTENCES), epochs=3)
    assert fit == [True] * 3
    assert fits_rows(model) and (model.wv.vectors != before).any()


@pytest.mark.parametrize("optimizer", ["sgd", "adagrad"])
def test_training_makes_no_second_copy_of_the_rows_of_ngrams(optimizer: str) -> None:
    rng = np.random.default_rng(5)
    words = ["".join(letters) for letters in rng.choice(list("abcdefghijklmnopqrstuvwxyz"), (4000, 12))]
    sentences = [words[first : first + 20] for first in range(0, len(words), 20)]
    settings = {"vector_size": 128, "bucket": 200_000, "min_count": 1, "workers": 1, "optimizer": optimizer}
    model = TFFastText(**settings)
    model.build_vocab(sentences)
    trained_rows = len(words) + len(np.unique(np.concatenate(model.wv.buckets_word)))
    model.train(sentences, total_examples=len(sentences), epochs=1)  # imports TensorFlow
    tracemalloc.start()
    try:
        model.train(sentences, total_examples=len(sentences), epochs=1)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < trained_rows * 128 * 4 / 2


def test_new_words_leave_ngrams_their_states() -> None:
    model = trained(optimizer="adagrad")
    states = model.optimizer_states["vectors_ngrams"].copy()
    words = len(model.wv)
    assert (states > 0).sum() == len(np.unique(np.concatenate(model.wv.buckets_word)))
    model.build_vocab([["zebra"] * 5], update=True)
    model.train([["zebra", "zebra"]], total_examples=1, epochs=1, start_alpha=1e-9, end_alpha=1e-9)
    later = model.optimizer_states
    assert len(later["inputs"]) == words + 1
    others = np.setdiff1d(np.flatnonzero(states), model.wv.buckets_word[model.wv.key_to_index["zebra"]])
    assert (later["vectors_ngrams"][others] == states[others]).all()


@pytest.mark.parametrize("mode", ["skipgram-negative", "cbow-hierarchical"])
def test_an_interrupted_training_resumes_as_if_it_had_not_been(mode: str, tmp_path: Path) -> None:
    settings = {**SETTINGS, **PURE_MODES[mode], "checkpoint_dir": tmp_path, "checkpoint_every": "6000 words"}
    model = TFFastText(**settings, cache_memory=0)
    model.build_vocab(SENTENCES)
    totals = {"total_examples": len(SENTENCES), "epochs": 3}
    with pytest.raises(StopError):
        model.train(StopInSecondPass(SENTENCES), **totals)
    resumed = TFFastText.resume(tmp_path, SENTENCES)
    whole = TFFastText(**SETTINGS, **PURE_MODES[mode])
    whole.build_vocab(SENTENCES)
    whole.train(SENTENCES, **totals)
    assert_equal(resumed, whole)
    assert_equal(TFFastText.resume(tmp_path, SENTENCES), whole)  # which has nothing left to train
    with pytest.raises(ValueError, match="is of a TFFastText, and cannot be resumed by a TFWord2Vec; use TFFastText"):
        TFWord2Vec.resume(tmp_path, SENTENCES)
    other = TFFastText(**settings | {"min_n": 2})
    other.build_vocab(SENTENCES)
    with pytest.raises(ValueError, match="min_n is 2, and the training in"):
        other.train(SENTENCES, resume=True, **totals)


@pytest.mark.parametrize("mode", ["skipgram-negative", "skipgram-hierarchical"])
def test_the_loss_of_validation_sentences_follows_from_word_vectors(mode: str) -> None:
    model = trained(**PURE_MODES[mode], validation=0.1)
    assert len(model.validation_losses) == 3 and model.validation_losses[-1] < model.validation_losses[0]
    settings = {name: value for name, value in SETTINGS.items() if name != "bucket"}
    plain = TFWord2Vec(SENTENCES, **settings, **PURE_MODES[mode])
    plain.wv.vectors = model.wv.vectors  # in skip-gram, the hidden vectors of words
    for name in ("syn1neg", "syn1"):
        setattr(plain, name, getattr(model, name, None))
    found, expected = (measured_now(each, SENTENCES[:50], "loss") for each in (model, plain))
    assert found == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("distribution", ["partition", "columns", "lbfgs"])
def test_designs_that_cannot_train_ngrams_say_so(distribution: str) -> None:
    with pytest.raises(ValueError, match=f"'{distribution}' cannot train words with n-grams; choose 'downpour'"):
        TFFastText(distribution=distribution, sg=1)


def test_vectors_on_servers_are_refused() -> None:
    with pytest.raises(ValueError, match="vectors_on_servers=True does not go with words that have n-grams"):
        TFFastText(vectors_on_servers=True, cluster={"ps": ["127.0.0.1:1"], "worker": ["127.0.0.1:2"]})


def test_tables_in_files_are_refused() -> None:
    with pytest.raises(ValueError, match=r"tables_dir='\.' does not go with words that have n-grams"):
        TFFastText(tables_dir=".")


def test_words_without_ngrams_are_rows_alone() -> None:
    model = trained(bucket=0, epochs=8)
    assert topic_gap(model.wv) > 0.8 and model.wv.vectors is model.wv.vectors_vocab


@pytest.mark.parametrize(
    "distribution", ["downpour", *(pytest.param(each, marks=pytest.mark.slow) for each in ("synchronous", "averaging"))]
)
def test_clusters_train_ngrams_in_three_designs(distribution: str) -> None:
    settings = {"sg": 1, "cluster": shared_cluster(), "distribution": distribution}
    assert_knows_topics(trained(**settings, workers=2, epochs=8).wv)
    if distribution == "synchronous":
        settings["reproducible"] = True
        assert_equal(trained(**settings, workers=1), trained(**settings, workers=2))
