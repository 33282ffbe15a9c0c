"""A training's event files, read back with TensorBoard's own reader."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.test.utils import datapath
from support.contract import SENTENCES, two_topics
from support.event_files import (
    SMALL,
    events_of,
    hyperparameters_of,
    progress_with_tasks,
    text_of,
    values_of,
    writer_for,
)
from support.projector import Plugin
from tensorboard.plugins.hparams import metadata
from tensorboard.util import tensor_util

from gensim_tfw2v import TensorBoardLog, TFWord2Vec
from gensim_tfw2v.blocks.sampling import ids_by_count
from gensim_tfw2v.evaluation import score_vectors
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.tensorboard.curves import task_points
from gensim_tfw2v.tensorboard.vector_metrics import choose_probes


class Trained:
    """A logged training and what it reported to a callback."""

    def __init__(self, folder: Path, sentences: list[list[str]]) -> None:
        self.folder = folder
        self.norms: list[np.ndarray] = []
        self.scores: list[float | None] = []
        self.model = TFWord2Vec(**SMALL)
        self.model.build_vocab(sentences)
        self.words = self.model.train(
            sentences,
            total_examples=len(sentences),
            epochs=3,
            compute_loss=True,
            callbacks=[self],
            logdir=TensorBoardLog(folder, every_seconds=0, probes=["report", "australia"], projector="epochs"),
        )

    def on_train_begin(self, model: Any) -> None:
        """See nothing yet."""

    def on_epoch_begin(self, model: Any) -> None:
        """See nothing yet."""

    def on_epoch_end(self, model: Any) -> None:
        self.norms.append(np.linalg.norm(model.wv.vectors, axis=1))
        self.scores.append(score_vectors(model.wv, analogies=[]).pairs[0].spearman)

    def on_train_end(self, model: Any) -> None:
        """See nothing more."""


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, lee: list[list[str]]) -> Trained:
    return Trained(tmp_path_factory.mktemp("logs") / "run", lee)


def test_the_loss_of_every_epoch_is_the_models(trained: Trained) -> None:
    np.testing.assert_allclose(values_of(trained.folder, "loss/epoch"), trained.model.epoch_losses, rtol=1e-6)


def test_validation_losses_are_logged_after_each_epoch_and_compared_in_the_end(tmp_path: Path) -> None:
    settings = SMALL | {"epochs": 2, "validation_metric": "ndcg@10"}
    model = TFWord2Vec(SENTENCES, validation=SENTENCES[:5], logdir=tmp_path, **settings)
    np.testing.assert_allclose(values_of(tmp_path, "validation/loss"), model.validation_losses, rtol=1e-6)
    scores = model.validation_scores["hits@10"]
    np.testing.assert_allclose(values_of(tmp_path, "validation/hits_at_10"), scores, rtol=1e-6)
    assert values_of(tmp_path, "essentials/validation_loss") == values_of(tmp_path, "validation/loss")
    assert values_of(tmp_path, "final/validation/loss") == values_of(tmp_path, "validation/loss")[-1:]
    steps = [point.step for point in events_of(tmp_path).Scalars("validation/loss")]
    assert steps == [point.step for point in events_of(tmp_path).Scalars("loss/epoch")]
    content = events_of(tmp_path).summary_metadata[metadata.EXPERIMENT_TAG].plugin_data.content
    compared = metadata.parse_experiment_plugin_data(content).metric_infos
    assert {f"final/validation/{name}" for name in ("loss", "hits_at_10", "ndcg_at_10")} <= {
        info.name.tag for info in compared
    }


def test_steps_are_trained_words(trained: Trained) -> None:
    points = events_of(trained.folder).Scalars("loss/epoch")
    assert points[-1].step == trained.words[0]
    assert [point.wall_time for point in points] == sorted(point.wall_time for point in points)


def test_running_losses_lie_around_those_of_the_epochs(trained: Trained) -> None:
    running = values_of(trained.folder, "loss/running")
    assert min(running) <= min(trained.model.epoch_losses) * 1.001
    assert max(running) >= max(trained.model.epoch_losses) * 0.999


def test_the_learning_rate_falls_from_alpha_towards_min_alpha(trained: Trained) -> None:
    rates = values_of(trained.folder, "learning_rate")
    assert trained.model.alpha > rates[0] > rates[-1]
    assert rates[-1] == pytest.approx(trained.model.min_alpha, abs=1e-6)


@pytest.mark.parametrize(
    "tag",
    [
        "speed/words_per_second",
        "speed/words_per_second_of_epoch",
        "speed/pairs_per_word",
        "norms/input_vectors_of_rare_words",
        "norms/output_vectors_of_hot_words",
    ],
)
def test_a_curve_that_can_only_be_positive_is_there(trained: Trained, tag: str) -> None:
    values = values_of(trained.folder, tag)
    assert len(values) >= 3
    assert values[-1] > 0


def test_workers_shares_of_time_add_up_to_one(trained: Trained) -> None:
    tags = [f"workers/share_{what}" for what in ("waiting_for_corpus", "preparing_batches", "in_steps")]
    np.testing.assert_allclose(np.sum([values_of(trained.folder, tag) for tag in tags], axis=0), 1, rtol=1e-5)


def test_norms_of_hot_words_are_the_models(trained: Trained) -> None:
    logged = [point for point in events_of(trained.folder).Scalars("norms/input_vectors_of_hot_words")]
    assert logged[-1].value == pytest.approx(trained.norms[-1][:100].mean(), rel=1e-5)


def test_histograms_count_every_vector_once(trained: Trained) -> None:
    events = events_of(trained.folder).Tensors("norms/input_vectors")
    assert len(events) == 4  # before training and after each epoch
    for event, norms in zip(events[1:], trained.norms, strict=True):
        buckets = tensor_util.make_ndarray(event.tensor_proto)  # [bucket, (left, right, count)]
        assert buckets[:, 2].sum() == len(trained.model.wv)
        assert (buckets[0, 0], buckets[-1, 1]) == pytest.approx((norms.min(), norms.max()), rel=1e-5)


def test_scores_of_every_epoch_are_those_of_the_vectors_then(trained: Trained) -> None:
    points = {point.step: point.value for point in events_of(trained.folder).Scalars("scores/wordsim353")}
    ends = [point.step for point in events_of(trained.folder).Scalars("loss/epoch")]
    np.testing.assert_allclose([points[end] for end in ends], np.multiply(100, trained.scores), atol=1e-3)


def test_neighbours_are_gensims_and_new_ones_are_bold(trained: Trained) -> None:
    tables = text_of(trained.folder, "neighbours")
    assert len(tables) == 4
    nearest = [word for word, _ in trained.model.wv.most_similar("australia", topn=8)]
    row = next(line for line in tables[-1].splitlines() if line.startswith("| australia"))
    assert row.replace("**", "") == f"| australia | {', '.join(nearest)} |"
    assert "**" in tables[1].splitlines()[-1]
    assert "**" not in tables[0].splitlines()[-1]


def test_the_graph_is_that_of_the_step(trained: Trained) -> None:
    graph = events_of(trained.folder).Graph()
    assert "Tfw2vTrainSkipGram" in {node.op for node in graph.node}


def test_hyperparameters_and_final_scores_are_for_comparing(trained: Trained) -> None:
    assert hyperparameters_of(trained.folder)["alpha"].number_value == 0.025
    content = events_of(trained.folder).summary_metadata
    experiment = metadata.parse_experiment_plugin_data(content[metadata.EXPERIMENT_TAG].plugin_data.content)
    shown = [info.name for info in experiment.hparam_infos if info.differs]  # TensorBoard shows these, and five at most
    assert shown == ["epochs", "alpha", "vector_size", "window", "sg"]
    tags = [info.name.tag for info in experiment.metric_infos]
    assert tags == ["final/loss", "final/words_per_second", "final/wordsim353", "final/simlex999"]
    assert values_of(trained.folder, "final/loss") == pytest.approx([trained.model.epoch_losses[-1]])
    assert values_of(trained.folder, "final/wordsim353") == values_of(trained.folder, "scores/wordsim353")[-1:]


def test_loss_learning_rate_speed_and_scores_are_in_the_first_group_of_tags(trained: Trained) -> None:
    tags = events_of(trained.folder).Tags()["scalars"]
    assert min(tag.partition("/")[0] for tag in tags) == "essentials"
    for tag, elsewhere in [
        ("essentials/loss", "loss/running"),
        ("essentials/learning_rate", "learning_rate"),
        ("essentials/words_per_second", "speed/words_per_second"),
        ("essentials/simlex999", "scores/simlex999"),
        ("essentials/wordsim353", "scores/wordsim353"),
    ]:
        assert values_of(trained.folder, tag) == values_of(trained.folder, elsewhere)
    assert sum(tag.startswith("essentials/") for tag in tags) == 5


def test_whole_numbers_among_hyperparameters_are_texts_that_sort_as_numbers(tmp_path: Path) -> None:
    shown = {}
    for epochs in (10, 9):
        TFWord2Vec(SENTENCES, **SMALL | {"epochs": epochs, "alpha": 1}, logdir=tmp_path / str(epochs))
        shown[epochs] = hyperparameters_of(tmp_path / str(epochs))
    assert (shown[9]["alpha"].number_value, shown[9]["sg"].string_value.strip()) == (1.0, "1")
    nine, ten = shown[9]["epochs"].string_value, shown[10]["epochs"].string_value
    assert (nine.strip(), ten.strip()) == ("9", "10")
    assert nine < ten


def test_the_projector_gets_every_epoch_and_the_end(trained: Trained) -> None:
    listed = (trained.folder / "projector_config.pbtxt").read_text()
    for name in ("vectors", "epoch-01", "epoch-02", "epoch-03"):
        assert f'tensor_name: "{name}"' in listed
    vectors = trained.model.wv.vectors
    for name in ("epoch-03", "vectors"):
        np.testing.assert_array_equal(Plugin(trained.folder).tensor(name, vectors.shape[1]), vectors[:10_000])


def test_bounded_updates_are_counted_where_there_are_any(tmp_path: Path) -> None:
    for bound, folder in ((1e-6, tmp_path / "tight"), (1e6, tmp_path / "loose")):
        TFWord2Vec(SENTENCES, **SMALL, update_bound=bound, logdir=folder)
    assert (
        values_of(tmp_path / "tight", "updates/share_of_bounded_rows")[-1] >= 0.5
    )  # the first step finds outputs of 0
    assert values_of(tmp_path / "loose", "updates/share_of_bounded_rows")[-1] == 0


def test_users_files_are_scored(tmp_path: Path) -> None:
    own = tmp_path / "own.tsv"
    own.write_text("human\tuser\t9\nhuman\ttrees\t1\nuser\tsystem\t7\n")
    options = TensorBoardLog(tmp_path / "log", pairs=[str(own)], analogies=[datapath("questions-words.txt")])
    TFWord2Vec(SENTENCES, **SMALL, logdir=options)
    tags = events_of(tmp_path / "log").Tags()["scalars"]
    assert [tag for tag in tags if tag.startswith("scores/")] == ["scores/own"]  # no analogy can be asked


def test_every_task_of_a_cluster_has_curves_of_its_own(tmp_path: Path) -> None:
    tables = ModelTables(np.ones((11, 8), np.float32), None, None, np.ones(1, np.float32))
    with writer_for(tmp_path, tables) as writer:
        for words in (100, 200):
            writer.advance(progress_with_tasks(words))
        writer.end_epoch(progress_with_tasks(300))
    assert values_of(tmp_path / "tasks" / "worker-0", "tasks/cpu_percent") == [150, 250, 350]
    assert values_of(tmp_path / "tasks" / "worker-0", "tasks/staleness") == [2, 2, 2]
    assert values_of(tmp_path / "tasks" / "ps-0", "tasks/cpu_percent") == [7, 7, 7]


def test_a_speed_is_measured_over_the_time_between_points_at_least_or_over_a_short_epoch(tmp_path: Path) -> None:
    tables = ModelTables(np.ones((11, 8), np.float32), None, None, np.ones(1, np.float32))
    with writer_for(tmp_path, tables, every_seconds=1) as writer:
        for hundredths in (90, 150, 250):
            writer.advance(progress_with_tasks(hundredths))
        writer.end_epoch(progress_with_tasks(251))  # right after a point
        writer.advance(progress_with_tasks(1))  # right after the start of the second epoch
        writer.end_epoch(progress_with_tasks(30))
    steps = [point.step for point in events_of(tmp_path).Scalars("speed/words_per_second")]
    assert steps == [250, 251 + 30]
    assert values_of(tmp_path, "speed/words_per_second") == pytest.approx([100, 100])
    assert len(values_of(tmp_path, "learning_rate")) == 5


def test_a_task_that_has_not_reported_has_no_memory_yet() -> None:
    assert task_points({"blocks": 0, "memory_bytes": 0.0}) == {"tasks/blocks": 0}
    assert task_points({"blocks": 1, "memory_bytes": 7.0}) == {"tasks/blocks": 1, "tasks/memory_bytes": 7}


def test_vectors_that_have_become_nan_are_no_reason_to_stop(tmp_path: Path) -> None:
    tables = ModelTables(np.full((11, 8), np.nan, np.float32), None, None, np.ones(1, np.float32))
    with writer_for(tmp_path, tables) as writer:
        writer.end_epoch(progress_with_tasks(100))
    assert len(values_of(tmp_path, "learning_rate")) == 1


def test_probes_are_frequent_and_middling_words() -> None:
    counts = np.arange(1000)  # words are seldom out of order, but may be
    probes = choose_probes([str(count) for count in counts], ids_by_count(counts))
    assert len(probes) == 10
    assert (int(probes[0]), int(probes[-1])) == (999 - 50, 999 - 499)


def test_the_smallest_vocabulary_has_a_probe() -> None:
    assert choose_probes(["only"], np.array([0])) == ["only"]


def test_a_trace_of_the_profiler_is_taken_on_request(tmp_path: Path) -> None:
    sentences = two_topics(4000)
    options = TensorBoardLog(tmp_path, pairs=[], trace_seconds=0.2)
    TFWord2Vec(sentences, min_count=1, epochs=12, sg=1, logdir=options)
    assert list((tmp_path / "plugins" / "profile").rglob("*.xplane.pb"))


def test_a_server_that_cannot_be_traced_is_warned_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    options = TensorBoardLog(tmp_path, pairs=[], trace_seconds=0.2, trace_hosts=["127.0.0.1:1"])
    with caplog.at_level(logging.WARNING):
        TFWord2Vec(two_topics(4000), min_count=1, epochs=12, sg=1, logdir=options)
    assert "127.0.0.1:1" in caplog.text


def test_tokens_that_are_numbers_are_logged(tmp_path: Path) -> None:
    sentences = [[0, 1, 2, 3], [2, 3, 4, 0]] * 20
    options = TensorBoardLog(tmp_path / "log", probes=[0, 3])  # type: ignore[list-item]
    TFWord2Vec(sentences, min_count=1, epochs=1, vector_size=4, logdir=options)
    assert (tmp_path / "log" / "projector" / "vectors-metadata.tsv").read_text().startswith("word\tcount\trank\n")
