"""What a person sees: a real browser opens TensorBoard on the log of a training."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import browser
from support.awkward_words import AWKWARD, keyed_vectors
from support.clustered import TASKS, WORKERS, Clustered
from support.tensorboard_server import serving

from gensim_tfw2v import TensorBoardLog, TFWord2Vec, export_projector
from gensim_tfw2v.tensorboard.spelling import visible

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not browser.is_there(), reason=browser.WHAT_IS_MISSING)]


@pytest.fixture(scope="module")
def model() -> TFWord2Vec:
    """Return a model whose training on the Lee corpus is still to come."""
    return TFWord2Vec(sg=1, seed=3)


@pytest.fixture(scope="module")
def address(model: TFWord2Vec, lee: list[list[str]], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the log of a training of ten epochs."""
    logs = tmp_path_factory.mktemp("served") / "logs"
    options = TensorBoardLog(logs / "lee", every_seconds=0.1, probes=["fire", "australia"])
    model.build_vocab(lee)
    model.train(lee, total_examples=len(lee), epochs=10, logdir=options)
    with serving(logs) as (url, _):
        yield url


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Page]:
    with browser.page(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


# The curves that TensorBoard shows first, in its order.
FIRST = ["learning_rate", "loss", "simlex999", "words_per_second", "wordsim353"]


# The table of the HParams tab.
COLUMNS = [
    "Trial ID", "Show Metrics", "alpha", "epochs", "sg", "vector_size", "window",
    "final/loss", "final/words_per_second", "final/wordsim353", "final/simlex999",
]  # fmt: skip


def shown_cells(page: browser.Page) -> list[Any]:
    """Return the cells of the HParams tab's table, row by row from the header on."""
    tables = page.all("tf-hparams-table-view")
    return [cell for cell in page.all(".table-cell", tables[0]) if cell.is_displayed()] if tables else []


def coloured(pixels: np.ndarray) -> int:
    """Return how many of the pixels [height, width, 3] are neither white, grey nor black."""
    return int((pixels.max(axis=2) - pixels.min(axis=2) > 0.05).sum())


# Has the projector note the texts that it draws.
NOTE_LABELS = """
window.labels = new Set();
const context = CanvasRenderingContext2D.prototype;
const draw = context.fillText;
context.fillText = function (text, ...place) {
  window.labels.add(text);
  return draw.call(this, text, ...place);
};
"""


def drawn_labels(page: browser.Page) -> list[str]:
    """Return the texts that were drawn since NOTE_LABELS."""
    drawn: list[str] = page.driver.execute_script("return [...window.labels]")
    return drawn


def open_projector(page: browser.Page, address: str, words: int) -> None:
    """Go to the projector's tab and wait for so many points."""
    page.until(lambda: _is_projector_active(address))  # TensorBoard begins to look for vectors when first asked
    page.open(f"{address}#projector")
    page.enter_frame(".numDataPoints", str(words))


def _is_projector_active(address: str) -> bool:
    with urllib.request.urlopen(f"{address}data/plugins_listing", timeout=60) as listing:
        active: bool = json.load(listing)["projector"]["enabled"]
        return active


def find(page: browser.Page, word: str) -> str:
    """Search the projector for a word as it is shown there, and return the card with its count and rank.

    A single match is selected by the projector itself; of several, the word is clicked.
    """
    panel = page.all("vz-projector-inspector-panel")[0]
    (field,) = page.all("input", page.all("#search-box", panel)[0])
    field.clear()
    field.send_keys(word)

    def card() -> str | None:
        link = next((link for link in page.all(".matches-list a", panel) if link.text == word), None)
        if link is not None:
            link.click()
        return next((text for text in map(page.text, page.all("vz-projector-metadata-card")) if word in text), None)

    found: str = page.until(card)
    return found


def nearest_about_the_mean(model: TFWord2Vec, word: str, count: int) -> list[str]:
    """Return the nearest words after the mean of all vectors has been subtracted, as the projector does."""
    centred = model.wv.vectors - model.wv.vectors.mean(axis=0)
    unit = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    order = np.argsort(-(unit @ unit[model.wv.key_to_index[word]]))
    return [model.wv.index_to_key[index] for index in order if model.wv.index_to_key[index] != word][:count]


def test_time_series_opens_on_loss_learning_rate_speed_and_scores(page: browser.Page, address: str) -> None:
    page.open(f"{address}#timeseries")
    essentials = [f"essentials/{name}" for name in FIRST]
    shown = page.until(lambda: [page.text(card) for card in page.all("metrics-card-groups card-view")][: len(FIRST)])
    assert [tag for tag, text in zip(essentials, shown, strict=True) if tag in text] == essentials


def test_curves_are_drawn(page: browser.Page, address: str, tmp_path: Path) -> None:
    page.open(f"{address}?tagFilter=loss/#timeseries")
    page.until_text("card-view", "loss/running")
    page.until_text("card-view", "loss/epoch")
    for chart in page.until(lambda: page.all("line-chart canvas") or page.all("line-chart svg")):
        page.until(lambda chart=chart: coloured(page.colours(tmp_path / "curves.png", chart)) > 100)


def test_histograms_are_drawn(page: browser.Page, address: str, tmp_path: Path) -> None:
    page.open(f"{address}?tagFilter=norms/input_vectors$#timeseries")
    page.until_text("card-view", "norms/input_vectors")
    chart = page.until(lambda: page.all("tb-histogram"))[0]
    page.until(lambda: coloured(page.colours(tmp_path / "histograms.png", chart)) > 100)


def test_the_text_panel_shows_neighbours(page: browser.Page, address: str, model: TFWord2Vec) -> None:
    page.open(f"{address}#text")
    nearest = ", ".join(word for word, _ in model.wv.most_similar("fire", topn=8))
    assert page.until_text("td", nearest) == nearest


def test_the_graph_of_the_step_is_drawn(page: browser.Page, address: str) -> None:
    page.open(f"{address}#graphs&run=lee")
    page.until_text("g.node", "Tfw2vTrainSkipGram")


SHOWN = re.compile(r"cluster/tasks/(?P<task>\w+ \d)\s+\S+\s+(?P<value>\S+)")  # a row of the table below a chart


@pytest.fixture(scope="module")
def cluster_address(clustered: Clustered) -> Iterator[str]:
    """Serve the log of a training on a cluster."""
    with serving(clustered.folder.parent) as (url, _):
        yield url


@pytest.mark.parametrize(
    ("name", "tasks"),
    [(name, TASKS) for name in ("cpu_seconds", "memory_bytes", "received_bytes", "sent_bytes", "blocks")]
    + [(name, WORKERS) for name in ("waited_seconds", "staleness", "cores")],
)
def test_every_task_of_a_cluster_has_its_curve_in_one_chart(
    page: browser.Page, cluster_address: str, clustered: Clustered, name: str, tasks: list[str], tmp_path: Path
) -> None:
    assert clustered.model.training_report is not None
    reported = clustered.model.training_report["tasks"]
    page.open(f"{cluster_address}?tagFilter=tasks/{name}$#timeseries")

    def shown() -> dict[str, str]:
        found = dict(SHOWN.findall(page.until_text("card-view", f"tasks/{name}")))
        return found if len(found) == len(tasks) else {}

    values = {task: float(value.replace(",", "")) for task, value in page.until(shown).items()}
    assert values == pytest.approx({task: reported[task][name] for task in tasks}, rel=1e-3)
    chart = page.all("line-chart")[0]
    page.until(lambda: coloured(page.colours(tmp_path / "tasks.png", chart)) > 100)


def test_hyperparameters_have_the_size_of_the_cluster(page: browser.Page, cluster_address: str) -> None:
    page.open(f"{cluster_address}#hparams")
    for column in ("cluster_ps", "cluster_worker"):
        page.until_text("tf-hparams-main", column)


def test_hyperparameters_stand_beside_final_scores_with_whole_numbers_as_such(page: browser.Page, address: str) -> None:
    page.open(f"{address}#hparams")
    cells = page.until(lambda: shown_cells(page)[2 * len(COLUMNS) - 1 :] and shown_cells(page))
    header, values = cells[: len(COLUMNS)], cells[len(COLUMNS) :]
    assert [cell.text for cell in header] == COLUMNS
    assert [cell.text for cell in values][2:7] == ["0.025000", "10", "1", "100", "5"]


def test_five_hyperparameters_and_four_final_values_are_on_one_screen(page: browser.Page, address: str) -> None:
    page.open(f"{address}#hparams")
    cells = page.until(lambda: shown_cells(page)[2 * len(COLUMNS) - 1 :] and shown_cells(page))
    width = page.driver.execute_script("return window.innerWidth")
    assert max(cell.rect["x"] + cell.rect["width"] for cell in cells) < width
    is_cut = "return arguments[0].scrollWidth > arguments[0].clientWidth"
    assert [cell.text for cell in cells if page.driver.execute_script(is_cut, cell)] == [cells[len(COLUMNS)].text]


def test_the_projector_shows_a_point_for_every_word_and_highlights_the_one_searched_for(
    page: browser.Page, address: str, model: TFWord2Vec, tmp_path: Path
) -> None:
    open_projector(page, address, len(model.wv))
    page.driver.switch_to.default_content()
    frame = page.all("iframe")[0]
    page.until(lambda: coloured(page.colours(tmp_path / "points.png", frame)) > 3000)
    page.enter_frame(".numDataPoints", str(len(model.wv)))
    assert str(model.wv.get_vecattr("fire", "count")) in find(page, "fire")
    neighbours = page.until(lambda: [link.text.split("\n")[0] for link in page.all(".nn-list a") if link.text])
    assert set(neighbours[:5]) <= set(nearest_about_the_mean(model, "fire", 10))


def test_points_are_labelled_before_anything_is_selected_and_afterwards_those_that_are(
    page: browser.Page, tmp_path: Path
) -> None:
    words = [f"word{rank}" for rank in range(200)]
    export_projector(keyed_vectors(words), tmp_path / "logs" / "words")
    with serving(tmp_path / "logs") as (address, _):
        open_projector(page, address, len(words))
        page.driver.execute_script(NOTE_LABELS)
        assert set(page.until(lambda: drawn_labels(page)[30:] and drawn_labels(page))) <= set(words)
        find(page, "word199")  # which selects its neighbours too
        page.driver.execute_script("window.labels.clear()")
        neighbours = page.until(lambda: {link.text.split("\n")[0] for link in page.all(".nn-list a")})
        assert "word199" in page.until(lambda: drawn_labels(page))
        assert set(drawn_labels(page)) <= {"word199", *neighbours}


def test_awkward_words_can_be_found_in_the_projector(page: browser.Page, tmp_path: Path) -> None:
    export_projector(keyed_vectors(AWKWARD), tmp_path / "logs" / "awkward")
    with serving(tmp_path / "logs") as (address, _):
        open_projector(page, address, len(AWKWARD))
        for word in ("tab\there", '"comma, quoted"', "שלום", "\u202eright-to-left", "<b>bold</b>", ""):
            assert find(page, visible(word))
