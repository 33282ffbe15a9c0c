"""Arguments of `train()` hold for one training: it runs as a model of these settings does, which keeps its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from gensim.models.callbacks import CallbackAny2Vec
from support.contract import assert_equal_models
from support.resumed_training import EPOCHS, SENTENCES, Interrupted, train, untrained
from support.stopping import StopError, stop

from gensim_tfw2v import TFWord2Vec

PARTITION: dict[str, Any] = {"distribution": "partition"}


class Looks(CallbackAny2Vec):
    """Notes the design at the end of each epoch and of the training."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def on_epoch_end(self, model: TFWord2Vec) -> None:
        self.seen.append(model.distribution)

    def on_train_end(self, model: TFWord2Vec) -> None:
        self.seen.append(f"end: {model.distribution}")


def test_a_training_by_another_design_gives_the_vectors_of_a_model_with_that_design() -> None:
    looks = Looks()
    model = train(untrained("skipgram-negative"), **PARTITION, callbacks=[looks])
    assert_equal_models(train(untrained("skipgram-negative", **PARTITION)), model)
    assert model.distribution == "downpour"
    assert looks.seen == ["partition"] * EPOCHS + ["end: downpour"]


def test_a_training_measures_another_metric() -> None:
    model = train(untrained("skipgram-negative"), validation=0.1, validation_metric="ndcg@10")
    assert len(model.validation_scores["ndcg@10"]) == model.epochs
    assert model.validation_metric == "loss"


def test_a_training_runs_on_another_device() -> None:
    model = untrained("skipgram-negative", device="cpu:9")
    with pytest.raises(ValueError, match="device='cpu:9'"):
        train(model)
    train(model, device="cpu")
    assert model.training_report is not None and "CPU" in model.training_report["device"].upper()
    assert model.device == "cpu:9"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"device": "tpu"}, "device must be 'cpu', .* got 'tpu'"),
        ({"distribution": "solo"}, "distribution must be .* got 'solo'"),
        ({"distribution": "averaging"}, "distribution='averaging' needs a cluster"),
        ({"validation": 0.1, "validation_metric": "hits"}, "validation_metric must be .* got 'hits'"),
    ],
)
def test_a_wrong_value_is_named_and_the_model_keeps_its_own(arguments: dict[str, Any], message: str) -> None:
    model = untrained("skipgram-negative")
    with pytest.raises(ValueError, match=message):
        train(model, **arguments)
    assert (model.device, model.distribution, model.validation_metric) == (None, "downpour", "loss")
    train(model)


def test_a_training_by_another_design_resumes_by_it(tmp_path: Path) -> None:
    expected = train(untrained("skipgram-negative", **PARTITION))
    model = untrained("skipgram-negative", checkpoint_dir=tmp_path, cache_memory=0)
    with pytest.raises(StopError):
        train(model, Interrupted(11000, stop), **PARTITION)
    assert model.distribution == "downpour"
    resumed = TFWord2Vec.resume(tmp_path, SENTENCES)
    assert_equal_models(expected, resumed)
