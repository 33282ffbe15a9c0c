"""Vectors of every design: read back as they were loaded, learnt, and equal when a training is repeated."""

from __future__ import annotations

import numpy as np
import pytest
from support.contract import assert_equal_models, assert_finite, learnt_arrays, topic_gap
from support.design_placements import DISTRIBUTIONS, placed
from support.design_promises import DesignPromises
from support.design_trainings import in_one_process, train, trained, undisturbed
from support.designs import REGISTRY, designs_that, every_design

from gensim_tfw2v.steps.settings import FREEZABLE


def test_every_design_is_in_the_table() -> None:
    assert {entry.distribution for entry in REGISTRY.values()} >= DISTRIBUTIONS


@every_design()
def test_what_is_loaded_is_read_back(design: DesignPromises) -> None:
    with placed(design) as placement:
        for seed in range(2):
            tables = placement.random_tables(seed)
            placement.load(tables)
            for name, values in tables.items():
                np.testing.assert_array_equal(placement.read()[name], values, err_msg=name)
                np.testing.assert_array_equal(placement.rows(name, 3, 9), values[3:9], err_msg=name)
                np.testing.assert_array_equal(placement.rows(name, 0, len(values)), values, err_msg=name)


@every_design()
def test_what_was_trained_does_not_outlast_another_loading(design: DesignPromises) -> None:
    with placed(design) as placement:
        first, second = map(placement.random_tables, range(2))
        placement.load(first)
        placement.train_one_chunk()
        placement.load(second)
        found = placement.read()
        for name, values in second.items():
            np.testing.assert_allclose(found[name], values, atol=1e-5, err_msg=name)


@every_design()
def test_a_training_learns_what_belongs_together(design: DesignPromises) -> None:
    model = undisturbed(design.name)
    assert_finite(model)
    assert topic_gap(model.wv) > 0.5
    assert len(model.epoch_losses) == model.epochs


@designs_that("equal_runs")
def test_one_seed_gives_the_same_bits_twice(design: DesignPromises) -> None:
    assert_equal_models(trained(design), undisturbed(design.name))


@designs_that("equal_runs_of_several")
def test_one_seed_gives_the_same_bits_twice_with_several_workers(design: DesignPromises) -> None:
    assert_equal_models(trained(design, workers=2), undisturbed(design.name, workers=2))


@designs_that("like_one_process")
def test_one_worker_gives_the_vectors_of_one_process(design: DesignPromises) -> None:
    found, expected = learnt_arrays(undisturbed(design.name)), learnt_arrays(in_one_process(design))
    for name, values in expected.items():
        np.testing.assert_allclose(
            found[name], values, rtol=0, atol=design.tolerance * np.abs(values).max(), err_msg=name
        )


@pytest.mark.parametrize("freeze", FREEZABLE)
@designs_that("freezes")
def test_frozen_vectors_keep_every_bit_and_the_others_learn(design: DesignPromises, freeze: str) -> None:
    model = trained(design, workers=2, epochs=1)
    before = {name: values.copy() for name, values in learnt_arrays(model).items()}
    train(design, model, freeze=freeze)
    assert_finite(model)
    for name, values in learnt_arrays(model).items():
        is_frozen = name != "tags" and (name == "vectors") == (freeze == "inputs")
        assert (values.tobytes() == before[name].tobytes()) == is_frozen, name
