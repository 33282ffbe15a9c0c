"""Tasks that die while nothing is on the coordinator: neither the words, which workers read, nor the vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from gensim.models.callbacks import CallbackAny2Vec
from gensim.test.utils import datapath

from gensim_tfw2v import TFWord2Vec, encode_corpus, local_cluster
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.local import LocalCluster


class Kill(CallbackAny2Vec):
    """Kill a task when the first epoch has ended."""

    def __init__(self, cluster: LocalCluster, job: str) -> None:
        self.task: Any = cluster.processes[job, 0]

    def on_epoch_end(self, model: Any) -> None:
        self.task.kill()
        self.task.wait()


def test_a_lost_worker_costs_no_words_and_a_lost_server_costs_the_vectors(tmp_path: Path) -> None:
    words = encode_corpus(datapath("lee_background.cor"), tmp_path / "corpus", shard_words=1).words
    corpus: dict[str, Any] = {"corpus_file": str(tmp_path / "corpus"), "total_words": words}
    with local_cluster(ps=1, workers=2) as cluster:
        model = TFWord2Vec(
            vector_size=8, min_count=1, sample=0, batch_words=3000, cluster=cluster, vectors_on_servers=True
        )
        other = TFWord2Vec([["a", "b"]] * 20, min_count=1, epochs=1, cluster=cluster, vectors_on_servers=True)
        model.build_vocab(corpus_file=corpus["corpus_file"])
        trained, _ = model.train(**corpus, epochs=3, callbacks=[Kill(cluster, "worker")])
        assert trained == 3 * words

        with pytest.raises(ClusterError, match=r"the model had them nowhere else .*train anew"):
            model.train(**corpus, epochs=3, callbacks=[Kill(cluster, "ps")])
        with pytest.raises(ClusterError, match="when training begins"):
            model.wv["the"]
        with pytest.raises(ClusterError, match="out of reach"):
            other.wv["a"]
        other.free_server_vectors()  # of which nothing is left to free
