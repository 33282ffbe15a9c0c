"""One worker and one server: the vectors, losses and logs of training in this process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gensim.models.callbacks import CallbackAny2Vec
from support.contract import SENTENCES, SMALL, learnt_arrays, two_topics
from support.event_files import values_of
from support.mode_cases import EVERY_MODE
from support.placements import shared_cluster

from gensim_tfw2v import TensorBoardLog, TFWord2Vec


@pytest.mark.parametrize("mode", EVERY_MODE)
def test_one_worker_and_one_server_give_the_vectors_of_local_training(mode: dict[str, int]) -> None:
    local, remote = (
        TFWord2Vec(two_topics(), **SMALL | {"epochs": 2}, **mode, workers=1, cluster=cluster)
        for cluster in (None, shared_cluster(1, 1))
    )
    for name, array in learnt_arrays(local).items():
        np.testing.assert_allclose(learnt_arrays(remote)[name], array, atol=1e-5, err_msg=name)
    np.testing.assert_allclose(remote.epoch_losses, local.epoch_losses, rtol=1e-4)


def test_one_worker_logs_for_tensorboard_what_local_training_does_and_what_each_task_has_done(tmp_path: Path) -> None:
    arguments = SMALL | {"hs": 1, "workers": 1, "update_bound": 0.05, "compute_loss": True}
    for name, cluster in (("local", None), ("remote", shared_cluster(1, 1))):
        log = TensorBoardLog(tmp_path / name, every_seconds=0)
        TFWord2Vec(SENTENCES, **arguments, cluster=cluster, logdir=log)
    for tag in ("loss/epoch", "speed/pairs_per_word", "updates/share_of_bounded_rows"):
        local, remote = (values_of(tmp_path / name, tag) for name in ("local", "remote"))
        np.testing.assert_allclose(remote, local, rtol=1e-2, err_msg=tag)
        assert min(local) > 0, tag
    assert values_of(tmp_path / "remote" / "tasks" / "worker 0", "tasks/blocks") == [1, 2, 3]
    assert min(values_of(tmp_path / "remote", "workers/share_preparing_batches")) > 0


@pytest.mark.slow
def test_a_model_that_a_worker_has_dropped_is_registered_again() -> None:
    class TrainOthers(CallbackAny2Vec):
        def on_epoch_end(self, model: TFWord2Vec) -> None:
            for window in range(1, 7):  # more models than a worker keeps
                TFWord2Vec(SENTENCES, **SMALL | {"epochs": 1}, window=window, cluster=shared_cluster(1, 1))

    arguments = SMALL | {"epochs": 2, "workers": 1, "window": 7}
    local, remote = (
        TFWord2Vec(SENTENCES, **arguments, cluster=cluster, callbacks=callbacks)
        for cluster, callbacks in ((None, ()), (shared_cluster(1, 1), [TrainOthers()]))
    )
    np.testing.assert_allclose(remote.wv.vectors, local.wv.vectors, atol=1e-5)
