"""Data flows one way: a module imports only from modules before it in the pipeline."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import gensim_tfw2v

PACKAGE = Path(gensim_tfw2v.__file__).parent
# Each layer may import from earlier ones and from its own.
LAYERS = [
    [
        "settings",
        "processor",
        "forks",
        "tensorflow_runtime",
        "tokenizer",
        "encoded",
        "vocabulary",
        "word_attributes",
        "huffman",
        "progress",
        "scores",
    ],
    ["file_formats", "shards"],
    ["vector_files"],
    ["cluster", "cluster.errors", "cluster.task_figures"],
    ["cluster.specification", "cluster.python_ops", "cluster.common_rows"],
    ["cluster.health", "cluster.turns", "cluster.initial_rows", "cluster.gradual_start", "cluster.signs_of_life"],
    ["cluster.run_names"],
    ["cluster.local"],
    ["scan_worker", "chunks", "tree"],
    ["file_parts", "ways"],
    ["file_scan", "operations"],
    ["corpus", "encoding"],
    ["encoded_source"],
    ["batches"],
    ["work", "chunk_reader"],
    ["tuning", "maths", "placement", "evaluation"],
    ["steps"],
    ["graph_arguments", "cluster.rivalry"],
    ["cluster.wire"],
    ["cluster.task_functions"],
    ["cluster.server", "cluster.connection"],
    ["cluster.tables", "cluster.graphs", "cluster.servers"],
    ["cluster.server_matrix"],
    ["cluster.measuring"],
    ["cluster.dispatch"],
    ["placement.local", "placement.parameter_servers"],
    ["placement.choice"],
    ["training", "observe"],
    ["model_state"],
    ["server_vectors"],
    ["corpus_reading"],
    ["training_plan"],
    ["current_model"],
    ["word2vec"],
    ["model_files"],
    ["commands"],
    ["cli"],
    ["__main__"],
]
LAYER_OF = {name: depth for depth, names in enumerate(LAYERS) for name in names}
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    """Return a module's dotted name within the package; a package's own is its folder's."""
    parts = [*path.parts[:-1], path.stem]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer_of(name: str) -> int:
    """Return the layer of a module, or of the nearest package above it that has one."""
    while name not in LAYER_OF:
        assert "." in name, f"{name} has no place in LAYERS"
        name = name.rpartition(".")[0]
    return LAYER_OF[name]


def imported_by(path: Path) -> set[str]:
    """Return the package's modules that a module imports, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse((PACKAGE / path).read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    own = {name.removeprefix("gensim_tfw2v.") for name in names if name.startswith("gensim_tfw2v.")}
    known = {name_of(module) for module in MODULES}
    return own & known


@pytest.mark.parametrize("path", [path for path in MODULES if name_of(path)], ids=name_of)
def test_a_module_imports_only_from_earlier_layers(path: Path) -> None:
    wrong = {name for name in imported_by(path) if layer_of(name) > layer_of(name_of(path))}
    assert not wrong


def test_only_the_class_and_what_is_built_on_it_know_gensim() -> None:
    knowing = set()
    for path in MODULES:
        source = (PACKAGE / path).read_text()
        if any(
            line.lstrip().startswith(("from gensim.", "import gensim\n", "from gensim "))
            for line in source.splitlines()
        ):
            knowing.add(name_of(path))
    below = {name for name in knowing if layer_of(name) < LAYER_OF["word2vec"]}
    # Compressed files are opened as gensim opens them, its evaluation sets are at hand, and models are its own, as are
    # the keyed vectors that words' counts are given to, and those that refuse to be saved where they are not.
    assert below <= {"file_parts", "evaluation", "model_state", "word_attributes", "server_vectors"}


def test_only_the_graph_modules_import_tensorflow_directly() -> None:
    importing = {name_of(path) for path in MODULES if "import tensorflow as tf" in (PACKAGE / path).read_text()}
    assert importing == {
        "maths",
        "steps",
        "graph_arguments",
        "tensorflow_runtime",
        "cluster.rivalry",
        "cluster.wire",
        "cluster.graphs",
    }
