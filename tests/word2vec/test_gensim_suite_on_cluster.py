"""gensim's own tests of Word2Vec pass with every training on a cluster of one server and one worker."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from support.gensim_suite import classes_of, load_gensim_tests
from support.placements import shared_cluster

from gensim_tfw2v import TFWord2Vec

# It takes minutes. --all runs it, and so does TFW2V_CLUSTER_SUITE=1.
pytestmark = [] if "TFW2V_CLUSTER_SUITE" in os.environ else pytest.mark.slow


class ClusterWord2Vec(TFWord2Vec):
    """TFWord2Vec that trains on the tests' cluster."""

    def train(self, *args: Any, **kwargs: Any) -> tuple[int, int]:
        return super().train(*args, **kwargs, cluster=shared_cluster(1, 1))


_suite = load_gensim_tests("gensim_word2vec_tests_on_cluster", ClusterWord2Vec)
globals().update(classes_of(_suite))


@pytest.fixture(autouse=True)
def _keep_gensims_files_in_one_folder(scratch: Path) -> None:
    """Give gensim's tests a folder of their own: they write to the working and the temporary directory."""


def test_trainings_were_on_the_cluster() -> None:
    model = ClusterWord2Vec([["a", "b"]] * 20, min_count=1)
    assert model.training_report is not None
