"""The tutorial notebook runs from top to bottom, what it says is computed, and it is committed with what it shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import execute_notebook
import nbformat
import numpy as np
import pytest
from sklearn.svm import OneClassSVM
from support.notebook_parts import code_cells, committed, number, pictures, rows, shown, texts

NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?%?")
BAR = re.compile(r"(vocabulary|epoch \d+/\d+) .*|loading TensorFlow|connecting to the cluster")
# Values of the notebook's variables after its last cell, from which the tests compute its claims.
EXPRESSIONS = {
    "is_space": "is_space.tolist()",
    "posts": "{name: vectors.tolist() for name, vectors in inputs.items() if name != 'TF-IDF'}",
    "weights": "post_weights.toarray().tolist()",
    "clustered_posts": "text_vectors(clustered)[0].tolist()",
    "areas": "{name: float(result['area']) for name, result in results.items()}",
    "splits": "[SPLITS, LEARNT_SHARE]",
    "on_map": "on_map.tolist()",
    "own_group": "float(own_group)",
    "similarities": "[float(among_space), float(with_strangers)]",
    "losses": "[ours.epoch_losses, clustered.epoch_losses, losses['one-process'], losses['cluster']]",
    "report": "report",
    "opened": "[type(opened) is Word2Vec, bool(np.array_equal(opened.wv.vectors, ours.wv.vectors))]",
    "read": "[type(read) is KeyedVectors, bool(np.allclose(read.vectors, ours.wv.vectors))]",
}


class Executed:
    """The notebook, executed, and the values of the expressions."""

    def __init__(self) -> None:
        self.notebook, values = execute_notebook.executed(list(EXPRESSIONS.values()))
        self.values = {name: values[expression] for name, expression in EXPRESSIONS.items()}

    def __getattr__(self, name: str) -> Any:
        return self.values[name]


@pytest.fixture(scope="module")
def executed() -> Executed:
    """Return the notebook, executed afresh."""
    return Executed()


@pytest.fixture(params=["committed", pytest.param("executed", marks=pytest.mark.slow)])
def notebook(request: pytest.FixtureRequest) -> Any:
    """Return the notebook as it is in the repository, then executed afresh."""
    return committed() if request.param == "committed" else request.getfixturevalue("executed").notebook


def test_every_cell_has_been_executed_in_turn() -> None:
    cells = code_cells(committed())
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert not [output for cell in cells for output in cell.outputs if output.output_type == "error"]


def test_the_notebook_draws_three_small_pictures(notebook: Any) -> None:
    sizes = [len(picture) for picture in pictures(notebook)]
    assert len(sizes) == 3
    assert max(sizes) < 100_000


def test_the_notebook_names_no_place_and_time_of_a_machine() -> None:
    nbformat.validate(committed())
    assert committed().metadata == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    assert not [cell.id for cell in committed().cells if cell.metadata]
    everything = "\n".join(texts(code_cells(committed())))
    assert not re.findall(r"(?<![\w.])/(?:\w+/)+\S*|[A-Z]:\\\S*", everything)
    assert not re.findall(r"20\d\d-\d\d-\d\d|\d\d:\d\d:\d\d", everything)


def lines_written(notebook: Any) -> list[str]:
    """Return the lines that a notebook's cells print, or write to standard error."""
    streams = [output for cell in code_cells(notebook) for output in cell.outputs if output.output_type == "stream"]
    return [line for output in streams for line in output.text.splitlines() if line.strip()]


def test_the_committed_notebook_shows_progress_bars() -> None:
    assert len([line for line in lines_written(committed()) if BAR.fullmatch(line)]) > 1


def test_cells_write_no_lines_but_progress_bars(notebook: Any) -> None:
    assert [line for line in lines_written(notebook) if not BAR.fullmatch(line)] == []


def test_every_number_of_the_text_stands_in_code_or_in_an_output() -> None:
    cells = committed().cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    text = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)|^\d+\. ", "", text, flags=re.DOTALL | re.MULTILINE)
    code = [cell.source for cell in code_cells(committed())]
    computed = set(NUMBER.findall("\n".join([*code, *texts(code_cells(committed()))])))
    assert set(NUMBER.findall(text)) - computed == set()


def test_every_file_that_the_notebook_links_to_is_there() -> None:
    text = "\n".join(cell.source for cell in committed().cells if cell.cell_type == "markdown")
    links = re.findall(r"\]\((?!https?://)([^)#]+)", text)
    assert len(links) > 3
    assert [link for link in links if not (execute_notebook.NOTEBOOK.parent / link).is_file()] == []


@pytest.mark.parametrize(
    ("word", "subject"),
    [
        ("moon", {"lunar", "landing", "earthrise", "earth", "orbit", "spacecraft", "aldrin"}),
        ("religion", {"faith", "christianity", "buddhism", "judaism", "islam", "mythology"}),
    ],
)
def test_probe_words_are_near_words_of_their_subject(word: str, subject: set[str], notebook: Any) -> None:
    columns = [*rows(notebook, "gensims")[word], *rows(notebook, "tensorboard")[word]]
    assert len(columns) == 3
    for nearest in columns:
        assert len(subject & set(re.findall(r"\w+", nearest))) >= 3


def test_word_vectors_find_more_strangers_than_tfidf(notebook: Any) -> None:
    found = {name: (float(area.split()[0]), float(share[:-1])) for name, (area, share) in _results(notebook)}
    assert set(found) == {"TFWord2Vec", "gensim", "TF-IDF", "cluster"}
    for vectors in ("TFWord2Vec", "gensim", "cluster"):
        assert found[vectors][0] > found["TF-IDF"][0] + 0.02
        assert found[vectors][1] > found["TF-IDF"][1]
    assert number(shown(notebook, "learning"), r"is ([\d.]+) larger than with TF-IDF") > 0.02


def _results(notebook: Any) -> Iterator[tuple[str, list[str]]]:
    return ((name, row) for name, row in rows(notebook, "cluster-quality").items() if "±" in row[0])


def test_it_makes_no_difference_to_strangers_which_class_or_cluster_trains(notebook: Any) -> None:
    areas = {name: float(row[0].split()[0]) for name, row in _results(notebook)}
    assert areas["gensim"] == pytest.approx(areas["TFWord2Vec"], abs=0.06)
    assert areas["cluster"] == pytest.approx(areas["TFWord2Vec"], abs=0.06)


def test_posts_without_shared_words_are_more_similar_within_their_newsgroup(notebook: Any) -> None:
    text = shown(notebook, "reason")
    assert number(text, r"share no word is (-?[\d.]+)\. That") > number(text, r"and a stranger .* is (-?[\d.]+)\.$")


def test_the_map_shows_newsgroups_apart(notebook: Any) -> None:
    assert number(shown(notebook, "map"), r"map, (\d+)%") > 70


@pytest.mark.slow
def test_the_notebook_runs_and_draws(executed: Executed) -> None:
    assert len(pictures(executed.notebook)) == 3


def area(is_stranger: np.ndarray, scores: np.ndarray) -> float:
    """Return the share of pairs of a stranger and another post in which the stranger has the higher score."""
    strangers, others = scores[is_stranger], scores[~is_stranger]
    higher = (strangers[:, None] > others).mean()
    return float(higher + (strangers[:, None] == others).mean() / 2)


def mean_area(vectors: Any, is_space: np.ndarray, splits: int, learnt_share: float) -> float:
    """Return the mean area of one-class SVMs that learn from a share of the posts about space."""
    found = []
    for seed in range(splits):
        order = np.random.default_rng(seed).permutation(np.flatnonzero(is_space))
        learnt = order[: int(learnt_share * len(order))]
        tested = np.setdiff1d(np.arange(len(is_space)), learnt)
        classifier = OneClassSVM().fit(vectors[learnt])
        found.append(area(~is_space[tested], -classifier.decision_function(vectors[tested])))
    return float(np.mean(found))


@pytest.mark.slow
def test_the_areas_of_the_table_are_those_of_its_vectors(executed: Executed) -> None:
    inputs = executed.posts | {"TF-IDF": executed.weights, "cluster": executed.clustered_posts}
    assert set(inputs) == set(executed.areas)
    is_space = np.array(executed.is_space)
    for name, vectors in inputs.items():
        expected = mean_area(np.array(vectors), is_space, *executed.splits)
        assert executed.areas[name] == pytest.approx(expected, abs=0.005)
        shown_area = dict(_results(executed.notebook))[name][0].split()[0]
        assert float(shown_area) == pytest.approx(executed.areas[name], abs=0.0051)


@pytest.mark.slow
def test_the_maps_share_of_near_posts_is_that_of_its_points(executed: Executed) -> None:
    points, is_space = np.array(executed.on_map), np.array(executed.is_space)
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    np.fill_diagonal(distances, np.inf)
    near = np.argsort(distances, axis=1)[:, :5]
    assert executed.own_group == pytest.approx(np.mean(is_space[near] == is_space[:, None]), abs=0.005)


@pytest.mark.slow
def test_the_similarities_are_those_of_posts_that_share_no_word(executed: Executed) -> None:
    posts, is_space = np.array(executed.posts["TFWord2Vec"]), np.array(executed.is_space)
    has_word = np.array(executed.weights) > 0
    pairs = [
        (a, b) for a in np.flatnonzero(is_space) for b in range(len(posts)) if not (has_word[a] & has_word[b]).any()
    ]
    for found, among_space in zip(executed.similarities, (True, False), strict=True):
        cosines = [posts[a] @ posts[b] for a, b in pairs if is_space[b] == among_space]
        assert found == pytest.approx(np.mean(cosines), abs=1e-4)


@pytest.mark.slow
def test_the_losses_of_the_log_are_the_models(executed: Executed) -> None:
    ours, clustered, logged, logged_of_cluster = map(np.array, executed.losses)
    np.testing.assert_allclose(logged, ours, rtol=1e-4)
    np.testing.assert_allclose(logged_of_cluster, clustered, rtol=1e-4)
    assert ours[-1] < 0.9 * ours[0]
    assert clustered[-1] == pytest.approx(ours[-1], rel=0.05)


@pytest.mark.slow
def test_both_workers_train_blocks_and_servers_work_less(executed: Executed) -> None:
    tasks = executed.report["tasks"]
    workers, servers = ([tasks[f"{job} {task}"] for task in (0, 1)] for job in ("worker", "ps"))
    assert min(worker["blocks"] for worker in workers) > 0
    assert sum(worker["blocks"] for worker in workers) == executed.report["blocks"]
    assert max(one["cpu_seconds"] for one in servers) < min(one["cpu_seconds"] for one in workers)
    assert f"sent {executed.report['bytes_per_word']:.0f} bytes" in shown(executed.notebook, "cluster")


@pytest.mark.slow
def test_gensim_opens_the_saved_model_and_vectors(executed: Executed) -> None:
    assert executed.opened == [True, True]
    assert executed.read == [True, True]
