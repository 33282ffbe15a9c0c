"""Data flows one way: a package imports only from earlier packages of the pipeline, and in no circle within itself."""

from __future__ import annotations

import ast
import graphlib
import re
from pathlib import Path

import pytest

import gensim_tfw2v

PACKAGE = Path(gensim_tfw2v.__file__).parent
# Each line may import from the lines before it.
LAYERS = [
    ["version", "arrays", "tuning", "arguments"],
    ["runtime"],
    ["corpus", "files", "merging"],
    ["checkpoints"],
    ["blocks"],
    ["operations"],
    ["steps"],
    ["cluster"],
    ["placement.interface", "placement.block_size", "placement.request"],
    ["placement.local", "placement.local_choice", "placement.parameter_servers"],
    ["placement.worker_calls"],
    [
        *("placement.synchronous", "placement.averaging", "placement.partition"),
        *("placement.columns", "placement.lbfgs"),
    ],
    ["placement.design_arguments", "placement.designs", "placement.task_functions"],
    ["placement.choice", "placement.server"],
    ["training"],
    ["evaluation"],
    ["tensorboard"],
    ["model"],
    ["word2vec"],
    ["cli"],
    ["__main__"],
]
LAYER_OF = {name: depth for depth, names in enumerate(LAYERS) for name in names}
# The root's and the packages' own files import nothing when they are imported, but look names up on demand.
MODULES = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.name != "__init__.py"
}


def layer_of(name: str) -> int:
    """Return the layer of a module, or of the nearest package above it that has one."""
    while name not in LAYER_OF:
        assert "." in name, f"{name} has no place in LAYERS"
        name = name.rpartition(".")[0]
    return LAYER_OF[name]


def imported_by(path: Path) -> set[str]:
    """Return the package's modules that a module imports, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    own = {name.removeprefix("gensim_tfw2v.") for name in names if name.startswith("gensim_tfw2v.")}
    return own & MODULES.keys()


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_only_from_its_own_and_earlier_packages(name: str) -> None:
    assert not {found for found in imported_by(MODULES[name]) if layer_of(found) > layer_of(name)}


def test_no_modules_import_each_other_in_a_circle() -> None:
    graphlib.TopologicalSorter({name: imported_by(path) for name, path in MODULES.items()}).prepare()


@pytest.mark.parametrize("name", MODULES)
def test_nothing_looks_our_own_modules_up_by_name(name: str) -> None:
    """A look-up in `sys.modules`, or an import by a name in a string, would be an import that the other tests miss."""
    source = MODULES[name].read_text(encoding="utf8")
    assert 'sys.modules.get("gensim_tfw2v' not in source
    assert 'sys.modules["gensim_tfw2v' not in source
    if name != "cluster.task_functions":  # the former place of a public function
        assert "import_module" not in source


def test_the_root_holds_few_modules() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= 6


def test_a_cluster_knows_nothing_of_word2vec() -> None:
    imported = {found for name, path in MODULES.items() if name.startswith("cluster.") for found in imported_by(path)}
    assert {name.partition(".")[0] for name in imported} <= {"cluster", "runtime", "version", "arrays"}


def test_only_the_model_and_what_is_built_on_it_know_gensim() -> None:
    knowing = {
        name
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8")))
        if (isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "gensim")
        or (isinstance(node, ast.Import) and any(alias.name.partition(".")[0] == "gensim" for alias in node.names))
    }
    below = {name for name in knowing if layer_of(name) < LAYER_OF["model"]}
    # gensim's formats are read by gensim, compressed files are opened as it opens them, and its evaluation sets are at
    # hand.
    assert below <= {"corpus.file_parts", "files.models", "files.safe_vectors", "evaluation.scoring"}


def test_below_the_model_nothing_names_what_gensims_models_have() -> None:
    """Training and the log know a model by interfaces, and merging and files know its vectors."""
    names = {"wv", "syn1", "syn1neg", "cum_table", "train_count", "epoch_losses", "training_report"}
    naming = {
        name
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8")))
        if isinstance(node, ast.Attribute) and node.attr in names and layer_of(name) < LAYER_OF["model"]
    }
    assert naming == {"files.models"}  # which writes gensim's models


def test_only_the_graph_modules_import_tensorflow_directly() -> None:
    importing = {name for name, path in MODULES.items() if "import tensorflow as tf" in path.read_text(encoding="utf8")}
    assert importing == {
        "placement.averaging.blocks",
        "placement.averaging.exchange",
        "placement.averaging.graphs",
        "placement.averaging.worker_rows",
        "placement.columns.blocks",
        "placement.columns.graphs",
        "placement.columns.lane",
        "placement.columns.maths",
        "placement.columns.progress",
        "placement.lbfgs.gradient",
        "placement.lbfgs.graphs",
        "placement.lbfgs.portion",
        "placement.lbfgs.vector_graphs",
        "placement.parameter_servers.concurrent_updates",
        "placement.parameter_servers.graphs",
        "placement.parameter_servers.refused_steps",
        "placement.parameter_servers.server_rows",
        "placement.parameter_servers.staging",
        "placement.parameter_servers.worker_training",
        "placement.partition.blocks",
        "placement.partition.graphs",
        "placement.worker_calls.graphs",
        "runtime.tensorflow",
        "steps.arguments",
        "steps.graph",
        "steps.maths",
        "steps.rows",
        "steps.signature",
    }


def definitions(body: list[ast.stmt], prefix: str = "") -> set[str]:
    """Return the dotted names of the functions and classes in some statements."""
    found = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found |= {prefix + node.name, *definitions(node.body, f"{prefix}{node.name}.")}
    return found


def test_the_walk_in_contributing_names_functions_that_exist() -> None:
    text = (PACKAGE.parent / "CONTRIBUTING.md").read_text(encoding="utf8")
    walk = text.partition("### One sentence's way to a moved row")[2].partition("\n## ")[0]
    defined = {
        f"{name}.{definition}"
        for name, path in MODULES.items()
        for definition in definitions(ast.parse(path.read_text(encoding="utf8")).body)
    }
    named = set(re.findall(r"`([a-z0-9_]+\.[A-Za-z0-9_.]+)`", walk))
    assert len(named) > 15
    assert named <= defined
