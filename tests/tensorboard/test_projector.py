"""Vectors written for TensorBoard's projector come back whole, read by TensorBoard's own plugin."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.awkward_words import AWKWARD, keyed_vectors
from support.contract import SENTENCES
from support.projector import Plugin
from tensorboard import default

from gensim_tfw2v import export_projector
from gensim_tfw2v.tensorboard.pages import LabelledProjector, with_labels
from gensim_tfw2v.tensorboard.spelling import visible


def unescaped(shown: str) -> str:
    """Return the word that is shown so, by the rules that the documentation gives."""
    if shown == "\\(empty)":
        return ""
    short = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}

    def original(found: re.Match[str]) -> str:
        code = found[1]
        return short[code] if code in short else chr(int(code[1:], 16))

    return re.sub(r"\\([tnr\\]|x..|u....|U........)", original, shown)


def test_awkward_words_survive_the_round_trip(tmp_path: Path) -> None:
    vectors = keyed_vectors(AWKWARD)
    export_projector(vectors, tmp_path)
    header, *rows = Plugin(tmp_path).table()
    assert header == ["word", "count", "rank"]
    assert [unescaped(word) for word, _, _ in rows] == AWKWARD
    np.testing.assert_array_equal(Plugin(tmp_path).tensor(), vectors.vectors)


@given(st.text(st.characters(codec=None), max_size=6))
@settings(max_examples=300)
@example("")
@example("\\(empty)")
@example("\u0085")
def test_every_word_is_shown_on_one_line_and_differs_from_all_others(word: str) -> None:
    shown = visible(word)
    assert unescaped(shown) == word
    assert shown.strip() == shown != ""
    assert len(shown.splitlines()) == 1
    assert "\t" not in shown
    shown.encode("utf8")


def test_words_are_listed_by_count_with_their_ranks(tmp_path: Path) -> None:
    export_projector(keyed_vectors(["a", "b", "c", "d"], counts=[1, 9, 5, 7]), tmp_path, top=3)
    assert Plugin(tmp_path).table()[1:] == [["b", "9", "1"], ["d", "7", "2"], ["c", "5", "3"]]


def test_a_chosen_list_is_written_in_its_order(tmp_path: Path) -> None:
    vectors = keyed_vectors(["a", "b", "c", "d"])
    export_projector(vectors, tmp_path, words=["d", "a"])
    assert [row[0] for row in Plugin(tmp_path).table()[1:]] == ["d", "a"]
    np.testing.assert_array_equal(Plugin(tmp_path).tensor(), vectors[["d", "a"]])


def test_vectors_without_counts_have_ranks_only(tmp_path: Path) -> None:
    vectors = KeyedVectors(5)
    vectors.add_vectors(["a", "b"], np.ones((2, 5), np.float32))
    export_projector(vectors, tmp_path)
    assert Plugin(tmp_path).table() == [["word", "rank"], ["a", "1"], ["b", "2"]]


def test_output_vectors_have_a_panel_of_their_own(tmp_path: Path) -> None:
    model = Word2Vec(SENTENCES, vector_size=5, min_count=1, workers=1)
    export_projector(model.wv, tmp_path, output_vectors=model.syn1neg)
    plugin = Plugin(tmp_path)
    assert plugin.names() == ["vectors", "vectors-output"]
    np.testing.assert_array_equal(plugin.tensor("vectors-output"), model.syn1neg)
    assert plugin.table("vectors-output") == plugin.table("vectors")


def test_snapshots_are_kept_and_those_of_one_name_replaced(tmp_path: Path) -> None:
    export_projector(keyed_vectors(["a", "b"]), tmp_path, name="first")
    export_projector(keyed_vectors(["c", "d"]), tmp_path, name="second")
    export_projector(keyed_vectors(["e", "f", "g"]), tmp_path, name="first")
    plugin = Plugin(tmp_path)
    assert plugin.names() == ["first", "second"]
    assert [row[0] for row in plugin.table("first")[1:]] == ["e", "f", "g"]
    assert plugin.tensor("first").shape == (3, 5)


def test_the_page_that_is_served_has_the_script_that_labels_points(tmp_path: Path) -> None:
    export_projector(keyed_vectors(["a", "b"]), tmp_path)
    plugin = Plugin(tmp_path, LabelledProjector)
    page = plugin.get("projector_binary.html", headers={"Accept-Encoding": "gzip"}).decode()
    (script,) = re.findall('src="(projector_labels.js)"></script></body>', page)
    assert b"generateVisibleLabelRenderParams" in plugin.get(script)


def test_the_labelled_projector_takes_the_place_of_tensorboards() -> None:
    plugins = default.get_plugins()
    assert [plugin for plugin in with_labels(plugins) if plugin not in plugins] == [LabelledProjector]


@pytest.mark.parametrize("value", [0.0, 1.1754944e-38, float(np.frombuffer(b"\n\n\n\n", np.float32)[0])])
def test_vectors_whose_bytes_look_like_text_are_read_back_all_the_same(tmp_path: Path, value: float) -> None:
    vectors = KeyedVectors(2)
    vectors.add_vectors(["a", "b", "c"], np.full((3, 2), value, np.float32))
    export_projector(vectors, tmp_path)
    np.testing.assert_array_equal(Plugin(tmp_path).tensor(size=2), vectors.vectors)


@pytest.mark.parametrize(
    ("arguments", "error", "fragment"),
    [
        ({"top": 0}, ValueError, "top"),
        ({"words": []}, ValueError, "no words"),
        ({"words": ["a", "nowhere"]}, KeyError, "nowhere"),
        ({"name": "../up"}, ValueError, "../up"),
        ({"output_vectors": np.ones((3, 5))}, ValueError, r"\(3, 5\)"),
    ],
)
def test_what_cannot_be_written_is_refused(
    tmp_path: Path, arguments: dict[str, Any], error: type[Exception], fragment: str
) -> None:
    with pytest.raises(error, match=fragment):
        export_projector(keyed_vectors(["a", "b"]), tmp_path / "log", **arguments)
    assert not (tmp_path / "log").exists()


def test_words_that_are_numbers_are_written_as_such(tmp_path: Path) -> None:
    vectors: Any = KeyedVectors(5)
    vectors.add_vectors([0, 7, 12], np.ones((3, 5), np.float32))
    export_projector(vectors, tmp_path)
    lines = (tmp_path / "projector" / "vectors-metadata.tsv").read_text().splitlines()
    assert [line.split("\t")[0] for line in lines] == ["word", "0", "7", "12"]
