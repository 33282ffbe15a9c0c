"""Workers keep the models of a few trainings only: one that has forgotten a model is sent it again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from gensim.models.callbacks import CallbackAny2Vec
from support.contract import SENTENCES, SMALL
from support.example_blocks import SETTINGS, WORDS, maker_from
from support.placements import shared_cluster

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.cluster.connection import connect, device
from gensim_tfw2v.cluster.local import LocalCluster
from gensim_tfw2v.cluster.remote_functions import local
from gensim_tfw2v.placement.calls.registration import Registration
from gensim_tfw2v.placement.tasks.block_factory import UNKNOWN_MODEL
from gensim_tfw2v.placement.tasks.codec import encode
from gensim_tfw2v.placement.tasks.graph_parts import register_model_graph
from gensim_tfw2v.placement.tasks.model import WorkerModel

DESIGNS = ["downpour", "synchronous", "averaging", "columns", "partition", "lbfgs"]


class OtherModels(CallbackAny2Vec):  # type: ignore[misc]
    """Sends all tasks as many models as they keep, after the first epoch."""

    def __init__(self, cluster: LocalCluster) -> None:
        self._cluster = cluster
        self._is_done = False

    def on_epoch_end(self, model: Any) -> None:
        if self._is_done:
            return
        self._is_done = True
        register, connection = register_model_graph(), connect(self._cluster)
        data = local(encode(WorkerModel(SETTINGS, maker_from(0), WORDS, 0, np.ones(1, np.float32))))
        for job, tasks in (("worker", connection.workers), ("ps", connection.servers)):
            for task in range(tasks):
                for number in range(4):
                    name = local(f"other {number}")
                    with tf.device(device(job, task)):
                        assert register(name, data).numpy()


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
def test_a_worker_that_has_forgotten_a_model_is_sent_it_again(design: str, monkeypatch: pytest.MonkeyPatch) -> None:
    forgotten: list[Registration] = []
    forget = Registration.forget

    def note(registration: Registration) -> None:
        forgotten.append(registration)
        forget(registration)

    cluster = shared_cluster(ps=1, workers=1)
    arguments = dict(**SMALL, sg=1, cluster=cluster, distribution=design, workers=1)
    undisturbed = TFWord2Vec(SENTENCES, **arguments)
    monkeypatch.setattr(Registration, "forget", note)
    found = TFWord2Vec(SENTENCES, **arguments, callbacks=[OtherModels(cluster)])
    np.testing.assert_array_equal(found.wv.vectors, undisturbed.wv.vectors)
    assert forgotten


def test_a_model_is_sent_once_before_it_is_needed() -> None:
    registration, sent = Registration(), []
    for model in ("first", "first", "second"):
        registration.call(model, lambda model=model: sent.append(model), lambda: None)
    assert sent == ["first", "second"]


def test_a_call_for_which_a_worker_lacks_its_model_a_second_time_fails() -> None:
    def refuse() -> None:
        raise tf.errors.UnknownError(None, None, f"TaskError: {UNKNOWN_MODEL}")

    sent: list[int] = []
    with pytest.raises(tf.errors.UnknownError):
        Registration().call("model", lambda: sent.append(1), refuse)
    assert len(sent) == 2
