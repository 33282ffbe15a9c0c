"""What the installed package promises: a cheap import, its names, its version, its types, its libraries."""

from __future__ import annotations

import importlib.metadata
import pickle
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import gensim
import pytest
from gensim.models.doc2vec import TaggedDocument

import gensim_tfw2v
from gensim_tfw2v import operations
from gensim_tfw2v.native import functions, in_numpy
from gensim_tfw2v.runtime.processor import instruction_level


def distribution() -> importlib.metadata.Distribution:
    try:
        return importlib.metadata.distribution("gensim-tfw2v")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the package is run from its source, not installed")


def modules_after(statement: str) -> set[str]:
    """The top-level modules that a fresh interpreter holds after a statement."""
    code = f"import sys; {statement}; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_imports_neither_gensim_nor_tensorflow() -> None:
    assert not {"gensim", "tensorflow", "numpy"} & modules_after("import gensim_tfw2v")


def test_neither_importing_the_class_nor_building_a_vocabulary_imports_tensorflow() -> None:
    loaded = modules_after("from gensim_tfw2v import TFWord2Vec; TFWord2Vec(min_count=1).build_vocab([['a', 'b']])")
    assert "gensim" in loaded
    assert "tensorflow" not in loaded


def test_evaluating_vectors_does_not_import_tensorflow() -> None:
    assert "tensorflow" not in modules_after("from gensim_tfw2v.evaluation import score_vectors")


def test_every_public_name_is_there_and_no_other() -> None:
    assert gensim_tfw2v.__all__ == [
        "Cache",
        "CheckpointError",
        "Checkpoints",
        "Cluster",
        "ClusterError",
        "DivergenceError",
        "Doc2Vec",
        "Doc2VecVectorizer",
        "EarlyStopping",
        "FastText",
        "FastTextVectorizer",
        "NeighbourIndex",
        "RandomWalks",
        "SearchResult",
        "TFDoc2Vec",
        "TFFastText",
        "TFWord2Vec",
        "TaggedLines",
        "TensorBoardLog",
        "Validation",
        "Word2Vec",
        "Word2VecVectorizer",
        "__version__",
        "build_index",
        "encode_corpus",
        "export_pretrained",
        "export_projector",
        "keras_embedding",
        "load_facebook_model",
        "load_vectors_safely",
        "local_cluster",
        "merge_vectors",
        "plan",
        "ray_cluster",
        "register_design",
        "register_task_functions",
        "score_vectors",
        "tune",
    ]
    for name in gensim_tfw2v.__all__:
        assert getattr(gensim_tfw2v, name)
    assert dir(gensim_tfw2v) == sorted(gensim_tfw2v.__all__)


@pytest.mark.parametrize("name", ["Word2Vec", "FastText", "Doc2Vec"])
def test_gensims_name_is_another_name_of_each_class(name: str, tmp_path: Path) -> None:
    own, gensims = getattr(gensim_tfw2v, name), getattr(gensim.models, name)
    assert own is getattr(gensim_tfw2v, f"TF{name}")
    sentences = [["a", "b"]] * 5
    documents = [TaggedDocument(sentence, [0]) for sentence in sentences]
    buckets = {"bucket": 10} if name == "FastText" else {}
    model = own(documents if name == "Doc2Vec" else sentences, min_count=1, vector_size=4, **buckets)
    model.save(str(tmp_path / "model"))
    assert type(pickle.loads(pickle.dumps(model))) is own
    assert type(own.load(str(tmp_path / "model"))) is own
    assert type(gensims.load(str(tmp_path / "model"))) is gensims


def test_planning_from_python_imports_neither_gensim_nor_tensorflow() -> None:
    code = "from gensim_tfw2v import plan; plan(words=1e6, vocabulary=1e3, profile='amx')"
    assert not {"gensim", "tensorflow"} & modules_after(code)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Word2Vek"):
        _ = gensim_tfw2v.Word2Vek


def test_the_version_is_that_of_the_installed_distribution() -> None:
    assert distribution().version == gensim_tfw2v.__version__


def test_the_command_is_installed() -> None:
    (command,) = distribution().entry_points.select(group="console_scripts", name="tfw2v")
    assert command.value == "gensim_tfw2v.cli.main:main"


def test_the_package_is_marked_as_typed() -> None:
    assert files("gensim_tfw2v").joinpath("py.typed").is_file()


def test_libraries_have_the_same_names_for_every_python() -> None:
    assert functions.library_path().name == "compiled.so"
    assert operations.library_path().name == f"{instruction_level()}.so"


OF_OPERATIONS = {"tfw2v_registration_error", "tfw2v_emulate_threads"}


def names_exported_by(library: Path) -> set[str]:
    """Return the names that a library exports, without those that linkers add."""
    found = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in found.splitlines()} - {"_init", "_fini", "_edata", "_end", "__bss_start"}


@pytest.mark.skipif(shutil.which("nm") is None, reason="there is no nm, which lists a library's names")
def test_libraries_export_only_what_python_calls() -> None:
    called = {functions: {f"tfw2v_{name}" for name in in_numpy.FUNCTIONS}, operations: OF_OPERATIONS}
    exported = {
        library: (names_exported_by(library), names)
        for module, names in called.items()
        for library in Path(str(module.__file__)).parent.glob("*.so")
    }
    if not exported:
        pytest.skip("the libraries are not compiled")
    for library, (found, expected) in exported.items():
        assert found == expected, library
