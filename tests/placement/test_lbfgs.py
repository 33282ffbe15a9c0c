"""L-BFGS over the whole corpus: gradients, steps, what travels, and what a lost worker costs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models.callbacks import CallbackAny2Vec
from scipy.optimize import fmin_l_bfgs_b, rosen, rosen_der
from support.benchmark_commands import corpus_in, run_command
from support.contract import SMALL, assert_equal_models, assert_finite, topic_gap, two_topics
from support.example_blocks import SETTINGS, SIZE, WORDS, maker_from, random_tables, read, work_on
from support.interrupts import stopped_after
from support.placements import shared_cluster
from support.reference_objective import reference_loss

from gensim_tfw2v import TFWord2Vec, encode_corpus, local_cluster
from gensim_tfw2v.blocks.batches import BatchShape, BlockMaker, Windows
from gensim_tfw2v.blocks.chunk_task import ChunkTask, prepare
from gensim_tfw2v.placement.calls.dispatch import Dispatcher
from gensim_tfw2v.placement.lbfgs.local_descent import LocalDescent
from gensim_tfw2v.placement.lbfgs.minimizer import Minimizer
from gensim_tfw2v.placement.lbfgs.placement import ClusterDescent
from gensim_tfw2v.placement.lbfgs.portion import fixed
from gensim_tfw2v.placement.lbfgs.server_vectors import ServerVectors
from gensim_tfw2v.placement.lbfgs.vector_space import POINT, LocalVectors, vector_names
from gensim_tfw2v.steps.settings import StepSettings

LBFGS: dict[str, Any] = {"distribution": "lbfgs", "seed": 3, "batch_words": 1200, "epochs": 12}
SENTENCES = two_topics()
OBJECTIVES = {
    "skip-gram": {"skip_gram": True},
    "cbow of means": {"skip_gram": False},
    "cbow of sums": {"skip_gram": False, "mean_context": False},
}


def settings_of(objective: str, windows: Windows = Windows.DRAWN, **changes: Any) -> StepSettings:
    """Return the settings of an objective."""
    return replace(SETTINGS, mean_windows=windows is Windows.MEAN, **OBJECTIVES[objective], **changes)


def maker_of(settings: StepSettings, windows: Windows = Windows.DRAWN) -> BlockMaker:
    """Return a maker of blocks with these settings."""
    maker = maker_from(0)
    shape = BatchShape(16, settings.run_tokens, settings.shared_negatives)
    return replace(maker, skip_gram=settings.skip_gram, window=settings.window, windows=windows, shape=shape)


def portions(count: int = 3) -> list[ChunkTask]:
    """Return the portions of a batch, as the loop numbers them in its first epoch."""
    return [replace(work_on(5 * number, seed=number), entropy=(1, 0, number)) for number in range(count)]


def evaluate(placement: LocalDescent, tasks: list[ChunkTask]) -> None:
    """Evaluate all portions once, and choose the next point."""
    placement.begin_epoch(0)
    for task in tasks:
        placement.train_chunk(task)
    placement.end_epoch(0)


def loss_at(maker: BlockMaker, settings: StepSettings, tasks: list[ChunkTask], tables: Any) -> float:
    """Return the reference's loss of all portions."""
    blocks = [prepare(maker, fixed(task)) for task in tasks]
    return sum(reference_loss(block.block, settings, tables.inputs, tables.outputs) for block in blocks if block)


# -- gradient ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("has_hits", [True, False])
@pytest.mark.parametrize("windows", [Windows.DRAWN, Windows.MEAN])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_loss_and_gradient_are_those_of_the_pairs(objective: str, windows: Windows, has_hits: bool) -> None:
    settings = settings_of(objective, windows, mask_accidental_hits=has_hits)
    maker, tasks, tables = maker_of(settings, windows), portions(2), random_tables()
    placement = LocalDescent(settings, maker, 1, 3, 0)
    placement.load(tables)
    placement.begin_epoch(0)
    losses = [float(placement.train_chunk(task).batches.losses.sum(dtype=np.float64)) for task in tasks]
    expected = loss_at(maker, settings, tasks, tables)
    assert sum(losses) == pytest.approx(expected, rel=1e-6)
    found = placement._vectors.tables[placement.minimizer.trial_gradient]
    rng, step = np.random.default_rng(5), 1e-5
    exact = replace(tables, inputs=tables.inputs.astype(np.float64), outputs=tables.outputs.astype(np.float64))
    for name in ("inputs", "outputs"):
        for row, column in zip(rng.integers(0, 15, 4), rng.integers(0, SIZE, 4), strict=True):
            values = getattr(exact, name)
            start = values[row, column]
            ends = []
            for place in (start + step, start - step):
                values[row, column] = place
                ends.append(loss_at(maker, settings, tasks, exact))
            values[row, column] = start
            slope = (ends[0] - ends[1]) / (2 * step)
            assert found[name][row, column] == pytest.approx(slope, rel=1e-4, abs=1e-4), (name, row, column)
    placement.close()


def test_a_wide_window_has_the_same_loss_without_look_up_tables() -> None:
    settings = settings_of("skip-gram", window=30)
    maker, tasks, tables = maker_of(settings), portions(), random_tables()
    placement = LocalDescent(settings, maker, 1, 3, 0)
    placement.load(tables)
    placement.begin_epoch(0)
    found = sum(float(placement.train_chunk(task).batches.losses.sum(dtype=np.float64)) for task in tasks)
    assert found == pytest.approx(loss_at(maker, settings, tasks, tables), rel=1e-6)


def test_words_whose_lock_factor_is_0_stay() -> None:
    settings, tables = settings_of("skip-gram"), random_tables()
    locks = np.ones(WORDS, np.float32)
    locks[:10] = 0
    placement = LocalDescent(settings, maker_of(settings), 1, 3, 0)
    placement.load(replace(tables, lock_factors=locks))
    for _ in range(5):
        evaluate(placement, portions())
    found = read(placement).inputs
    np.testing.assert_array_equal(found[:10], tables.inputs[:10])
    assert not np.array_equal(found[10:20], tables.inputs[10:20])


# -- steps -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("history", [1, 3, 10])
def test_a_narrow_valley_is_followed_in_about_as_many_evaluations_as_scipy_needs(history: int) -> None:
    start = np.tile([-1.2, 1.0], 10)
    vectors = LocalVectors(vector_names(history), {"table": (10, 2)})
    vectors.tables[POINT]["table"][:] = start.reshape(10, 2)
    minimizer = Minimizer(vectors, history)
    while (losses := minimizer.steps.losses) == [] or losses[-1] > 1e-6:
        minimizer.propose()
        point = vectors.tables[minimizer.trial]["table"].astype(np.float64).ravel()
        vectors.tables[minimizer.trial_gradient]["table"][:] = rosen_der(point).reshape(10, 2)
        minimizer.judge(float(rosen(point)))
        assert minimizer.steps.evaluations < 1000
    theirs = fmin_l_bfgs_b(rosen, start, rosen_der, m=history, factr=0, pgtol=1e-3)[2]["funcalls"]
    assert minimizer.steps.evaluations < 2 * theirs
    assert all(np.diff(losses) < 0)


def test_the_direction_is_that_of_the_two_loop_recursion() -> None:
    """Beside the recursion as its paper has it, on a quadratic function; it begins with a scale for each row."""
    rng = np.random.default_rng(2)
    root = rng.normal(size=(6, 6))
    matrix = root @ root.T + np.eye(6)
    vectors = LocalVectors(vector_names(3), {"table": (3, 2)})
    vectors.tables[POINT]["table"][:] = rng.normal(size=(3, 2))
    minimizer = Minimizer(vectors, 3)
    points, gradients = [], []
    for _ in range(12):
        minimizer.propose()
        point = vectors.tables[minimizer.trial]["table"].astype(np.float64).ravel()
        vectors.tables[minimizer.trial_gradient]["table"][:] = (matrix @ point).reshape(3, 2)
        if minimizer.judge(float(point @ matrix @ point / 2)):
            points.append(point)
            gradients.append(matrix @ point)
        if len(points) == 5:
            break
    minimizer.propose()
    direction = gradients[-1].copy()
    pairs = [(points[n + 1] - points[n], gradients[n + 1] - gradients[n]) for n in range(1, 4)]
    shares = []
    for step, change in reversed(pairs):
        shares.append(step @ direction / (step @ change))
        direction -= shares[-1] * change
    scales = np.repeat(1 / np.linalg.norm(gradients[0].reshape(3, 2), axis=1), 2)
    direction *= scales * (pairs[-1][0] @ pairs[-1][1] / (scales @ pairs[-1][1] ** 2))
    for (step, change), share in zip(pairs, reversed(shares), strict=True):
        direction += (share - change @ direction / (step @ change)) * step
    np.testing.assert_allclose(vectors.tables["direction"]["table"].ravel(), -direction, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_accepted_step_lowers_the_references_loss(objective: str) -> None:
    settings = settings_of(objective)
    maker, tasks, tables = maker_of(settings), portions(), random_tables()
    placement = LocalDescent(settings, maker, 2, 4, 0)
    placement.load(tables)
    losses = [loss_at(maker, settings, tasks, tables)]
    accepted = 0
    for _ in range(25):
        evaluate(placement, tasks)
        steps = placement.minimizer.steps
        if len(steps.lengths) > accepted:
            accepted = len(steps.lengths)
            losses.append(loss_at(maker, settings, tasks, read(placement)))
            assert steps.losses[-1] == pytest.approx(losses[-1], rel=1e-5)
    assert accepted > 10
    assert all(np.diff(losses) < 0)
    assert losses[-1] < 0.7 * losses[0]


def test_a_step_to_where_nothing_is_finite_is_not_taken() -> None:
    vectors = LocalVectors(vector_names(2), {"table": (2, 1)})
    minimizer = Minimizer(vectors, 2)
    vectors.tables[POINT]["table"][:] = 1
    for _ in range(30):
        minimizer.propose()
        point = vectors.tables[minimizer.trial]["table"].copy()
        outside = bool((np.abs(point) > 1.01).any())
        vectors.tables[minimizer.trial_gradient]["table"][:] = np.nan if outside else -1 + 0.99 * point
        minimizer.judge(float("inf") if outside else float((-point + 0.495 * point**2).sum()))
    assert (np.abs(vectors.tables[POINT]["table"]) <= 1.01).all()
    assert np.isfinite(minimizer.steps.losses).all()


# -- models ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sg", [0, 1])
def test_a_model_learns_in_this_process(sg: int) -> None:
    model = TFWord2Vec(SENTENCES, **SMALL | LBFGS, sg=sg, progress=False)
    assert_finite(model)
    assert topic_gap(model.wv) > 0.5
    assert len(model.epoch_losses) == 12
    report = model.training_report["lbfgs"]
    assert report["evaluations"] == 12
    assert report["accepted_steps"] == len(report["step_lengths"]) == len(report["losses"]) - 1
    assert all(np.diff(report["losses"]) < 0)


@pytest.mark.slow
@pytest.mark.parametrize("sg", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_a_cluster_takes_the_steps_of_one_process(sg: int) -> None:
    model = TFWord2Vec(SENTENCES, **SMALL | LBFGS, sg=sg, cluster=shared_cluster())
    assert topic_gap(model.wv) > 0.5
    alone = TFWord2Vec(SENTENCES, **SMALL | LBFGS, sg=sg, progress=False)
    np.testing.assert_allclose(model.epoch_losses[:8], alone.epoch_losses[:8], rtol=1e-4)
    report = model.training_report
    assert report["lbfgs"]["portions"] == 6
    assert report["blocks"] >= 6 * 12
    assert {"accepted_steps", "step_length"} <= report["tasks"]["coordinator"].keys()


def test_callbacks_see_the_accepted_point_and_change_nothing_by_looking() -> None:
    class Look(CallbackAny2Vec):
        def __init__(self) -> None:
            self.vectors: list[np.ndarray] = []

        def on_epoch_end(self, model: Any) -> None:
            self.vectors.append(model.wv.vectors.copy())

    seen = Look()
    model = TFWord2Vec(SENTENCES, **SMALL | LBFGS, callbacks=[seen], progress=False)
    assert_equal_models(model, TFWord2Vec(SENTENCES, **SMALL | LBFGS, progress=False))
    assert len(seen.vectors) == 12
    points = 1 + sum(not np.array_equal(*pair) for pair in zip(seen.vectors, seen.vectors[1:], strict=False))
    assert points == model.training_report["lbfgs"]["accepted_steps"] + 1


@pytest.mark.parametrize("place", ["local", pytest.param("cluster", marks=pytest.mark.slow)])
def test_a_training_that_stopped_within_an_evaluation_goes_on_at_the_accepted_point(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind: type[Any] = LocalDescent if place == "local" else ClusterDescent
    cluster = None if place == "local" else shared_cluster()
    settings: dict[str, Any] = SMALL | LBFGS | {"cluster": cluster, "workers": 1, "progress": False}
    model = TFWord2Vec(**settings, checkpoint_dir=tmp_path / "checkpoints", checkpoint_every="1200 words")
    model.build_vocab(SENTENCES)
    corpus = {"total_examples": len(SENTENCES), "total_words": 12 * len(SENTENCES), "epochs": 12}
    with stopped_after(6 * 4 + 3, kind, monkeypatch):
        model.train(SENTENCES, **corpus)
    resumed = TFWord2Vec.resume(tmp_path / "checkpoints", SENTENCES, cluster=cluster)
    assert len(resumed.epoch_losses) == 12
    assert resumed.training_report["lbfgs"]["evaluations"] == 12 - 5  # the fifth epoch was begun elsewhere
    assert resumed.epoch_losses[-1] < model.epoch_losses[0]
    assert topic_gap(resumed.wv) > 0.5


def test_a_saved_model_goes_on(tmp_path: Path) -> None:
    model = TFWord2Vec(SENTENCES, **SMALL | LBFGS | {"lbfgs_history": 4, "epochs": 3}, progress=False)
    model.save(str(tmp_path / "model"))
    again = TFWord2Vec.load(str(tmp_path / "model"))
    assert again.lbfgs_history == 4
    again.train(SENTENCES, total_examples=len(SENTENCES), epochs=5)
    assert again.epoch_losses[-1] < model.epoch_losses[0]


# -- what travels ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "own",
    [
        {"vector_size": 8, "lbfgs_history": 2},
        pytest.param({"vector_size": 40, "lbfgs_history": 6}, marks=pytest.mark.slow),
    ],
)
def test_messages_of_the_coordinator_do_not_grow(
    own: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences = two_topics(600 if own["vector_size"] == 8 else 1200)
    (tmp_path / "corpus.txt").write_text("".join(" ".join(sentence) + "\n" for sentence in sentences))
    encode_corpus(tmp_path / "corpus.txt", tmp_path / "encoded")
    requests, arguments = set(), set()
    start, run = Dispatcher.start, ServerVectors._run

    def start_and_look(self: Dispatcher, request: Any, place: int | None = None) -> Any:
        requests.add(len(request.model) + len(self._work.trained.tickets.sealed(request.assignment, 0)))
        return start(self, request, place)

    def run_and_look(self: ServerVectors, operation: str, vectors: Any, *numbers: float) -> float:
        handles = sum(len(shards) for vector in vectors for shards in self.slices[vector])
        arguments.add((handles, len(numbers)))
        return run(self, operation, vectors, *numbers)

    monkeypatch.setattr(Dispatcher, "start", start_and_look)
    monkeypatch.setattr(ServerVectors, "_run", run_and_look)
    settings = SMALL | LBFGS | own | {"epochs": 4, "batch_words": 2400 * (own["vector_size"] // 8)}
    TFWord2Vec(corpus_file=str(tmp_path / "encoded"), **settings, cluster=shared_cluster())
    assert requests and max(requests) <= 200
    # Handles of two tables on two servers, for at most three vectors; numbers have 8 bytes.
    assert max(handles for handles, _ in arguments) == 3 * 2 * 2
    assert max(numbers for _, numbers in arguments) == 2


@pytest.mark.slow
def test_a_worker_killed_in_an_evaluation_costs_its_portion_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    start, begun = Dispatcher.start, iter(range(1000))
    with local_cluster(ps=2, workers=2) as cluster:
        victim = cluster.processes["worker", 1]

        def start_with_a_death(*arguments: Any) -> Any:
            job = start(*arguments)
            if next(begun) == 3 * 6 + 2:  # in the midst of the fourth evaluation
                victim.kill()
            return job

        monkeypatch.setattr(Dispatcher, "start", start_with_a_death)
        settings = SMALL | LBFGS | {"sg": 1, "cluster": cluster, "max_recoveries": 0, "epochs": 12}
        model = TFWord2Vec(SENTENCES, **settings)
        assert victim.wait(10) != 0
    report = model.training_report
    assert report["lbfgs"]["evaluations"] == 12
    assert report["tasks"]["worker 1"]["blocks"] < report["tasks"]["worker 0"]["blocks"]
    alone = TFWord2Vec(SENTENCES, **SMALL | LBFGS | {"sg": 1, "epochs": 12}, progress=False)
    np.testing.assert_allclose(model.epoch_losses[:8], alone.epoch_losses[:8], rtol=1e-4)


@pytest.mark.slow
def test_the_benchmark_measures_both_and_goes_on_where_it_was(tmp_path: Path) -> None:
    small = ["--min-count", 1, "--vector-size", 8, "--evaluations", 2, 5, "--rates", 0.025, 0.05, "--output", tmp_path]
    done = run_command("lbfgs.py", corpus_in(tmp_path), *small, "--passes", 2)
    assert done.returncode == 0, done.stderr
    results = tmp_path / "lbfgs.json"
    runs = json.loads(results.read_text())["runs"]
    assert [(run["design"], run["epochs"]) for run in runs] == [("L-BFGS", 2), ("L-BFGS", 5), ("SGD", 2), ("SGD", 2)]
    assert runs[1]["loss"] < runs[0]["loss"] < np.log(2) * 6
    results.write_text(json.dumps({**json.loads(results.read_text()), "runs": runs[:3]}))
    done = run_command("lbfgs.py", corpus_in(tmp_path), *small, "--passes", 2)
    assert done.stderr.count("loss") == 1, done.stderr
    assert len(json.loads(results.read_text())["runs"]) == 4
