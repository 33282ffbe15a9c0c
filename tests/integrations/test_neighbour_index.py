"""An index of neighbours finds those that comparing all words finds, and refuses what is no index of its words."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from gensim.models import KeyedVectors
from gensim.test.utils import datapath

from gensim_tfw2v import TFWord2Vec, build_index
from gensim_tfw2v.files.formats import INDEX_ENGINES, ModelFileError
from gensim_tfw2v.integrations.index_engines import check_engine
from gensim_tfw2v.integrations.neighbour_index import NeighbourIndex, recall, words_of
from gensim_tfw2v.runtime.extras import MissingPackageError

MODULES = {"faiss": "faiss", "usearch": "usearch.index"}


def need(engine: str) -> ModuleType:
    module: ModuleType = pytest.importorskip(MODULES[engine], reason=f"needs {engine}, which the extra `test` installs")
    return module


def random_vectors(count: int, size: int = 16) -> KeyedVectors:
    vectors = KeyedVectors(size)
    rows = np.random.default_rng(1).normal(0, 1, (count, size)).astype(np.float32)
    vectors.add_vectors([f"w{word}" for word in range(count)], rows * np.arange(1, count + 1)[:, None])
    return vectors


def exact(vectors: KeyedVectors, positive: list[str], negative: list[str], topn: int) -> list[tuple[str, float]]:
    """Return the nearest words in the plainest terms."""
    unit = vectors.vectors.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    query = sum(unit[vectors.key_to_index[word]] for word in positive)
    query = query - sum(unit[vectors.key_to_index[word]] for word in negative)
    similarities = unit @ query / np.linalg.norm(query)
    order = [place for place in np.argsort(-similarities) if vectors.index_to_key[place] not in positive + negative]
    return [(vectors.index_to_key[place], float(similarities[place])) for place in order[:topn]]


@pytest.mark.parametrize("engine", INDEX_ENGINES)
def test_a_written_index_answers_as_a_slow_comparison_does(engine: str, tmp_path: Path) -> None:
    need(engine)
    vectors = random_vectors(60)  # so few that a search finds all
    NeighbourIndex.of(vectors, engine).save(tmp_path / "index")
    index = NeighbourIndex.load(tmp_path / "index")
    for positive, negative, topn in ((["w3"], [], 10), (["w3", "w7"], ["w1"], 5), ([], ["w2"], 3), (["w3"], [], 99)):
        expected = exact(vectors, positive, negative, topn)
        found = index.most_similar(positive, negative, topn)
        assert [word for word, _ in found] == [word for word, _ in expected]
        assert [value for _, value in found] == pytest.approx([value for _, value in expected], abs=1e-5)


@pytest.mark.parametrize("engine", INDEX_ENGINES)
def test_the_engine_opens_the_file_by_itself(engine: str, tmp_path: Path) -> None:
    library = need(engine)
    vectors = random_vectors(30)
    NeighbourIndex.of(vectors, engine).save(tmp_path / "index")
    path, unit = str(tmp_path / "index"), vectors.get_normed_vectors()
    if engine == "faiss":
        _, numbers = library.read_index(path).search(unit[4:5], 3)
        found = numbers[0].tolist()
    else:
        found = library.Index.restore(path).search(unit[4], 3).keys.tolist()
    assert [vectors.index_to_key[number] for number in found[1:]] == [word for word, _ in exact(vectors, ["w4"], [], 2)]


@pytest.mark.slow
@pytest.mark.parametrize("engine", INDEX_ENGINES)
def test_nearly_all_of_the_nearest_words_are_found(engine: str, tmp_path: Path) -> None:
    need(engine)
    # Rare words are hardly trained, so that their vectors are nearly equal, which is hard for an index.
    model = TFWord2Vec(corpus_file=datapath("lee_background.cor"), min_count=1, epochs=5, sg=1, workers=1, seed=1)
    random = random_vectors(20_000, 50)
    for vectors in (model.wv, random):
        NeighbourIndex.of(vectors, engine).save(tmp_path / "index")
        index = NeighbourIndex.load(tmp_path / "index")
        words = vectors.index_to_key[:: len(vectors) // 100]
        shares = []
        for word in words:
            expected = {neighbour for neighbour, _ in exact(vectors, [word], [], 10)}
            shares.append(len(expected & {neighbour for neighbour, _ in index.most_similar([word])}) / 10)
        assert np.mean(shares) >= 0.95
        assert recall(index, vectors, words) == pytest.approx(float(np.mean(shares)), abs=0.01)


@pytest.mark.parametrize("engine", INDEX_ENGINES)
def test_an_index_is_built_and_asked_as_gensims_vectors_are(engine: str, tmp_path: Path) -> None:
    need(engine)
    vectors = random_vectors(60)
    build_index(vectors, engine).save(str(tmp_path / "index"))
    index = NeighbourIndex.load(str(tmp_path / "index"))
    assert [word for word, _ in index.most_similar("w3", topn=5)] == [
        word for word, _ in vectors.most_similar("w3", topn=5)
    ]
    for asked in (vectors, index):
        with pytest.raises(KeyError, match="'w99' not present in vocabulary"):
            asked.most_similar("w99")


def test_no_index_is_built_of_no_vectors_nor_by_an_unknown_engine() -> None:
    with pytest.raises(ValueError, match="engine must be 'faiss' or 'usearch', got 'annoy'"):
        build_index(random_vectors(3), "annoy")
    need("faiss")
    with pytest.raises(ValueError, match="keyed_vectors has no words"):
        build_index(KeyedVectors(4), "faiss")


@pytest.mark.parametrize(("engine", "package"), [("faiss", "faiss-cpu"), ("usearch", "usearch")])
def test_a_missing_package_is_named_with_its_extra(engine: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, MODULES[engine], None)
    message = rf"an index of {engine} needs the package {package}, .*gensim-tfw2v\[{engine}\]"
    with pytest.raises(MissingPackageError, match=message):
        check_engine(engine)


@pytest.mark.parametrize("engine", INDEX_ENGINES)
def test_files_that_are_no_index_or_belong_to_others_are_refused(engine: str, tmp_path: Path) -> None:
    need(engine)
    path, other = tmp_path / "index", tmp_path / "other"
    with pytest.raises(ModelFileError, match=r"index '.*index': '.*index' is not there"):
        NeighbourIndex.load(path)
    NeighbourIndex.of(random_vectors(30), engine).save(path)
    NeighbourIndex.of(random_vectors(20), engine).save(other)
    whole, words = path.read_bytes(), words_of(path).read_bytes()
    words_of(path).write_bytes(words_of(other).read_bytes())
    with pytest.raises(
        ModelFileError, match=r"it has 30 vectors, and '.*index\.words\.json' 20 words of another index"
    ):
        NeighbourIndex.load(path)
    for damaged in (b"", b"[]", b'{"format": "other", "engine": "faiss"}', words[:-1]):
        words_of(path).write_bytes(damaged)
        with pytest.raises(ModelFileError, match="cannot read index"):
            NeighbourIndex.load(path)
    words_of(path).write_bytes(words)
    for damaged in (b"", b"the cat sat", whole[:40]):
        path.write_bytes(damaged)
        with pytest.raises(ModelFileError, match="cannot read index"):
            NeighbourIndex.load(path)
    words_of(path).unlink()
    with pytest.raises(ModelFileError, match=r"index\.words\.json' is not there; an index is these two files"):
        NeighbourIndex.load(path)
