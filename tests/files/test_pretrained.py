"""Folders for the Hugging Face Hub are read by safetensors, tokenizers and model2vec, as they are by others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors
from support.command_line import error_of, run

from gensim_tfw2v import export_pretrained

WORDS = ["the", "Étude", "cat", "x.y"]
MATRIX = np.random.default_rng(1).normal(size=(4, 6)).astype(np.float32)
TEXTS = ["the cat", "cat  unknown the\tcat", "Étude x.y", "unknown"]


def vectors_of(words: list[Any], matrix: np.ndarray = MATRIX) -> KeyedVectors:
    vectors = KeyedVectors(matrix.shape[1])
    vectors.add_vectors(words, matrix)
    return vectors


def mean(text: str, words: list[str]) -> np.ndarray:
    """Return the mean of the vectors of a text's known words."""
    rows = [MATRIX[words.index(word)] for word in text.split() if word in words]
    return np.mean(rows, axis=0) if rows else np.zeros(MATRIX.shape[1])


def test_tensors_are_those_that_safetensors_reads(tmp_path: Path) -> None:
    numpy = pytest.importorskip("safetensors.numpy", reason="needs safetensors, which the extra `test` installs")
    export_pretrained(vectors_of(WORDS), tmp_path / "words")
    (name, matrix), *others = numpy.load_file(tmp_path / "words" / "model.safetensors").items()
    assert (name, others) == ("embeddings", [])
    np.testing.assert_array_equal(matrix[:-1], MATRIX)
    np.testing.assert_array_equal(matrix[-1], np.zeros(6))


def test_the_tokenizer_numbers_words_as_the_tensor_does(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="needs tokenizers, which the extra `test` installs")
    export_pretrained(vectors_of(WORDS), tmp_path / "words")
    tokenizer = tokenizers.Tokenizer.from_file(str(tmp_path / "words" / "tokenizer.json"))
    assert [tokenizer.encode(text).ids for text in TEXTS] == [[0, 2], [2, 4, 0, 2], [1, 3], [4]]
    export_pretrained(vectors_of(["the", "cat"], MATRIX[:2]), tmp_path / "lower", lowercase=True)
    tokenizer = tokenizers.Tokenizer.from_file(str(tmp_path / "lower" / "tokenizer.json"))
    assert tokenizer.encode("THE Cat dog").ids == [0, 1, 2]


def test_model2vec_makes_means_of_words(tmp_path: Path) -> None:
    model2vec = pytest.importorskip("model2vec", reason="needs model2vec, which the extra `peers` installs")
    export_pretrained(vectors_of(WORDS), tmp_path / "words", license="mit", language="en")
    model = model2vec.StaticModel.from_pretrained(tmp_path / "words")
    np.testing.assert_allclose(model.encode(TEXTS), [mean(text, WORDS) for text in TEXTS], atol=1e-6)
    assert model.language == ["en"] or model.language == "en"


def test_sentence_transformers_makes_means_with_zeros_for_unknown_words(tmp_path: Path) -> None:
    library = pytest.importorskip("sentence_transformers", reason="needs sentence-transformers and PyTorch")
    export_pretrained(vectors_of(WORDS), tmp_path / "words")
    found = library.SentenceTransformer(str(tmp_path / "words")).encode(TEXTS)
    known = [sum(word in WORDS for word in text.split()) / len(text.split()) for text in TEXTS]
    expected = [share * mean(text, WORDS) for share, text in zip(known, TEXTS, strict=True)]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_numbers_become_text_and_files_are_json(tmp_path: Path) -> None:
    export_pretrained(vectors_of([7, 0], MATRIX[:2]), tmp_path / "nodes")
    tokenizer = json.loads((tmp_path / "nodes" / "tokenizer.json").read_text(encoding="utf8"))
    assert tokenizer["model"]["vocab"] == {"7": 0, "0": 1, "[UNK]": 2}
    (module,) = json.loads((tmp_path / "nodes" / "modules.json").read_text(encoding="utf8"))
    assert module["type"].endswith(".StaticEmbedding")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["New York"], "'New York' has white space"),
        ([""], "'' has white space, or is empty"),
        (["[UNK]"], r"'\[UNK\]' stands for unknown words"),
        ([7, "7"], "a number both as an int and as a text"),
    ],
)
def test_words_that_no_text_could_have_are_refused_and_nothing_is_left(
    words: list[Any], reason: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=reason):
        export_pretrained(vectors_of(words, MATRIX[: len(words)]), tmp_path / "words")
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_the_folder_with_a_card(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vectors_of(WORDS).save(str(tmp_path / "words.kv"))
    folder = tmp_path / "my words"
    assert run("export", tmp_path / "words.kv", folder, "--license", "mit", "--description", "Few words.") == 0
    assert capsys.readouterr().out == f"{folder}: 4 words, 6 dimensions\n"
    card = (folder / "README.md").read_text(encoding="utf8")
    assert card.startswith('---\nlibrary_name: "model2vec"\nlicense: "mit"\n')
    assert "\nFew words.\n\n4 words with vectors of 6 numbers" in card
    assert run("export", tmp_path / "words.kv", folder) == 2
    assert "there already" in error_of(capsys)
