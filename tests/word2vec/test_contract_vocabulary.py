"""Building, pruning, growing and borrowing a vocabulary, and training on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gensim.models import Word2Vec
from gensim.utils import RULE_DEFAULT, RULE_DISCARD, RULE_KEEP
from support.contract import SENTENCES, assert_finite, learnt_arrays

ARGUMENTS: dict[str, Any] = {"vector_size": 8, "min_count": 1, "workers": 1, "sample": 0, "epochs": 2}
MORE = [["zebra", "okapi", "human"], ["zebra", "trees", "okapi"]] * 20


def train(model: Any, sentences: list[list[str]]) -> tuple[int, int]:
    """Train a model for two epochs; return what train() returns, when every table is finite."""
    counts: tuple[int, int] = model.train(sentences, total_examples=len(sentences), epochs=2)
    assert_finite(model)
    return counts


def test_words_are_sorted_by_count(word2vec_class: type[Any]) -> None:
    model = word2vec_class(SENTENCES, **ARGUMENTS)
    counts = model.wv.expandos["count"]
    assert (np.diff(counts) <= 0).all()
    assert (set(model.wv.index_to_key[:2]), counts[0]) == ({"system", "user"}, 90)
    # The versions of gensim order words with equal counts differently; ours follows the one that is installed.
    assert model.wv.index_to_key == Word2Vec(SENTENCES, **ARGUMENTS).wv.index_to_key


def test_unsorted_words_stand_in_order_of_appearance(word2vec_class: type[Any], pure_mode: dict[str, int]) -> None:
    model = word2vec_class(SENTENCES, sorted_vocab=0, **ARGUMENTS, **pure_mode)
    assert model.wv.index_to_key[:5] == ["human", "computer", "interface", "survey", "user"]
    assert train(model, SENTENCES) == (1200, 1200)


def test_words_below_min_count_are_left_out(word2vec_class: type[Any]) -> None:
    model = word2vec_class(SENTENCES, **ARGUMENTS | {"min_count": 60})
    assert sorted(model.wv.index_to_key) == sorted(
        ["human", "computer", "survey", "user", "system", "response", "time"]
    )
    assert train(model, SENTENCES) == (2 * 480, 1200)


def test_a_trim_rule_decides_word_by_word(word2vec_class: type[Any]) -> None:
    rules = {"human": RULE_DISCARD, "minors": RULE_KEEP}
    model = word2vec_class(
        SENTENCES,
        trim_rule=lambda word, count, min_count: rules.get(word, RULE_DEFAULT),
        **ARGUMENTS | {"min_count": 60},
    )
    assert "minors" in model.wv
    assert "human" not in model.wv
    assert "graph" not in model.wv


def test_max_final_vocab_limits_the_words_kept(word2vec_class: type[Any]) -> None:
    model = word2vec_class(SENTENCES, max_final_vocab=2, **ARGUMENTS)
    assert model.wv.index_to_key == ["system", "user"]
    assert model.effective_min_count == 61
    assert train(model, SENTENCES) == (2 * 180, 1200)


def test_max_vocab_size_prunes_rare_words_while_counting(word2vec_class: type[Any]) -> None:
    sentences = [["often", "seen"]] * 10 + [[f"once{number}"] for number in range(30)] + [["often", "seen"]]
    model = word2vec_class(max_vocab_size=12, **ARGUMENTS)
    model.build_vocab(sentences)
    assert model.wv.get_vecattr("often", "count") == 11
    assert len(model.wv) <= 13
    assert train(model, sentences)[1] == 104


def test_the_raw_vocabulary_is_kept_on_request(word2vec_class: type[Any]) -> None:
    model = word2vec_class(**ARGUMENTS | {"min_count": 60})
    model.build_vocab(SENTENCES, keep_raw_vocab=True)
    assert model.raw_vocab["graph"] == 30


def test_a_null_word_is_added_and_left_alone(word2vec_class: type[Any], pure_mode: dict[str, int]) -> None:
    model = word2vec_class(null_word=1, **ARGUMENTS, **pure_mode)
    model.build_vocab(SENTENCES)
    before = model.wv["\0"].copy()
    assert len(model.wv) == 12
    train(model, SENTENCES)
    np.testing.assert_array_equal(model.wv["\0"], before)


def test_a_dry_run_changes_nothing(word2vec_class: type[Any]) -> None:
    model = word2vec_class(**ARGUMENTS)
    model.scan_vocab(SENTENCES)
    report = model.prepare_vocab(dry_run=True, min_count=60)
    assert report["num_retained_words"] == 7
    assert len(model.wv) == 0


def test_a_vocabulary_grows_and_keeps_what_was_learnt(word2vec_class: type[Any], mode: dict[str, int]) -> None:
    model = word2vec_class(SENTENCES, **ARGUMENTS, **mode)
    before = {name: array.copy() for name, array in learnt_arrays(model).items()}
    model.build_vocab(MORE, update=True)
    assert model.wv.index_to_key[11:] == ["zebra", "okapi"]
    assert model.wv.get_vecattr("human", "count") == 60 + 20
    for name, array in learnt_arrays(model).items():
        np.testing.assert_array_equal(array[:11], before[name], err_msg=name)


def test_a_grown_vocabulary_trains_its_new_words(word2vec_class: type[Any], mode: dict[str, int]) -> None:
    model = word2vec_class(SENTENCES, **ARGUMENTS, **mode)
    model.build_vocab(MORE, update=True)
    before = model.wv.vectors.copy()
    assert train(model, MORE) == (240, 240)
    changed = {model.wv.index_to_key[row] for row in np.flatnonzero((model.wv.vectors != before).any(axis=1))}
    assert changed == {"zebra", "okapi", "human", "trees"}


def test_a_vocabulary_can_grow_again_and_again(word2vec_class: type[Any]) -> None:
    model = word2vec_class(SENTENCES, **ARGUMENTS)
    for step in range(3):
        sentences = [[f"new{step}", "human", f"also{step}"]] * 10
        model.build_vocab(sentences, update=True)
        assert train(model, sentences) == (60, 60)
    assert len(model.wv) == 11 + 6


def test_a_vocabulary_from_frequencies_trains(word2vec_class: type[Any], mode: dict[str, int]) -> None:
    model = word2vec_class(**ARGUMENTS, **mode)
    model.build_vocab_from_freq({"human": 9, "computer": 5, "graph": 7, "never": 1})
    assert model.wv.index_to_key == ["human", "graph", "computer", "never"]
    assert train(model, [["human", "graph", "computer", "zebra"]] * 5) == (30, 40)


def test_reset_from_borrows_the_vocabulary_and_forgets_the_vectors(
    word2vec_class: type[Any], mode: dict[str, int]
) -> None:
    donor = word2vec_class(SENTENCES, **ARGUMENTS, **mode)
    model = word2vec_class(MORE, **ARGUMENTS, **mode)
    model.reset_from(donor)
    assert model.wv.key_to_index == donor.wv.key_to_index
    untrained = word2vec_class(**ARGUMENTS, **mode)
    untrained.build_vocab(SENTENCES)
    np.testing.assert_array_equal(model.wv.vectors, untrained.wv.vectors)


def test_a_model_with_a_borrowed_vocabulary_trains(tfword2vec_class: type[Any], mode: dict[str, int]) -> None:
    """gensim hangs here: its worker thread dies of the lock factors that reset_from() did not make."""
    donor = tfword2vec_class(SENTENCES, **ARGUMENTS, **mode)
    model = tfword2vec_class(MORE, **ARGUMENTS, **mode)
    model.reset_from(donor)
    assert train(model, SENTENCES) == (1200, 1200)


@pytest.mark.parametrize(
    ("mode", "donors", "missing"),
    [
        ({"hs": 1, "negative": 0}, {"hs": 0, "negative": 5}, "Huffman tree.*hs=1"),
        ({"hs": 0, "negative": 5}, {"hs": 1, "negative": 0}, "cum_table"),
    ],
    ids=["no tree", "no table of negatives"],
)
def test_a_borrowed_vocabulary_that_lacks_what_training_needs_is_refused(
    tfword2vec_class: type[Any], mode: dict[str, int], donors: dict[str, int], missing: str
) -> None:
    model = tfword2vec_class(MORE, **ARGUMENTS, **mode)
    model.reset_from(tfword2vec_class(SENTENCES, **ARGUMENTS, **donors))
    with pytest.raises(RuntimeError, match=missing):
        train(model, SENTENCES)
    model.build_vocab(SENTENCES)
    assert train(model, SENTENCES) == (1200, 1200)


def test_init_weights_clears_the_output_tables_and_training_goes_on(
    word2vec_class: type[Any], pure_mode: dict[str, int]
) -> None:
    """gensim's init_weights() leaves input vectors that have their size already."""
    model = word2vec_class(SENTENCES, **ARGUMENTS, **pure_mode)
    before = model.wv.vectors.copy()
    model.init_weights()
    np.testing.assert_array_equal(model.wv.vectors, before)
    outputs = model.syn1 if model.hs else model.syn1neg
    assert not outputs.any()
    assert train(model, SENTENCES) == (1200, 1200)


def test_an_update_without_a_first_vocabulary_is_an_error(word2vec_class: type[Any]) -> None:
    with pytest.raises(RuntimeError, match="no prior vocabulary"):
        word2vec_class(**ARGUMENTS).build_vocab(SENTENCES, update=True)


def test_a_setting_changed_after_the_vocabulary_takes_effect(word2vec_class: type[Any]) -> None:
    """The loss of a first, tiny step counts pairs: a fixed window of one has a fifth of those of five."""
    sentences = [["human", "graph", "user", "trees"] * 10] * 10
    losses = []
    for window in (5, 1):
        model = word2vec_class(sg=1, window=5, shrink_windows=False, **ARGUMENTS)
        model.build_vocab(sentences)
        model.window = window
        rates = {"start_alpha": 1e-4, "end_alpha": 1e-4}
        model.train(sentences, total_examples=10, epochs=1, compute_loss=True, **rates)
        losses.append(model.get_latest_training_loss())
    assert 3 < losses[0] / losses[1] < 6


def test_a_max_vocab_size_of_zero_is_no_limit(word2vec_class: type[Any]) -> None:
    model = word2vec_class(max_vocab_size=0, **ARGUMENTS)
    model.build_vocab(SENTENCES)
    assert len(model.wv) == 11
