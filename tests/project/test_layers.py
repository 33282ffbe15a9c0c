"""Data flows one way: a package imports only from earlier packages of the pipeline, and in no circle within itself."""

from __future__ import annotations

import ast
import collections
import graphlib
import re
from pathlib import Path

import gensim_tfw2v

PACKAGE = Path(gensim_tfw2v.__file__).parent
# Each line may import from the lines before it.
LAYERS = [
    ["version", "arrays", "tuning", "arguments"],
    ["runtime"],
    ["native"],
    ["corpus", "files", "merging"],
    ["walks"],
    ["checkpoints"],
    ["blocks"],
    ["operations"],
    ["steps"],
    ["cluster"],
    ["placement.contract", "placement.state", "placement.block_size", "placement.request", "placement.row_states"],
    ["planning"],
    ["placement.local", "placement.remote"],
    ["placement.tasks"],
    ["placement.calls"],
    ["placement.server_rows"],
    [
        *("placement.downpour", "placement.synchronous", "placement.averaging", "placement.partition"),
        *("placement.columns", "placement.lbfgs"),
    ],
    ["placement.design_arguments", "placement.designs"],
    ["placement.device", "placement.choice", "placement.server"],
    ["training"],
    ["evaluation"],
    ["tensorboard"],
    ["model"],
    ["word2vec"],
    ["fasttext", "doc2vec"],
    ["planning.calibration"],
    ["integrations"],
    ["search"],
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


def has_layer(name: str) -> bool:
    """Return whether a module, or a package above it, has a layer."""
    return name in LAYER_OF or ("." in name and has_layer(name.rpartition(".")[0]))


def layer_of(name: str) -> int:
    """Return the layer of a module, or of the nearest package above it that has one."""
    assert has_layer(name), f"{name} has no place in LAYERS"
    return LAYER_OF[name] if name in LAYER_OF else layer_of(name.rpartition(".")[0])


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


def test_every_module_has_a_layer() -> None:
    without = [name for name in MODULES if not has_layer(name)]
    assert not without, ", ".join(without)


def test_modules_import_only_from_their_own_and_earlier_packages() -> None:
    imports = [(name, found) for name, path in MODULES.items() for found in sorted(imported_by(path))]
    backwards = [f"{name} imports {found}" for name, found in imports if layer_of(found) > layer_of(name)]
    assert not backwards, "\n".join(backwards)


def test_no_modules_import_each_other_in_a_circle() -> None:
    graphlib.TopologicalSorter({name: imported_by(path) for name, path in MODULES.items()}).prepare()


def test_the_module_map_lists_every_module_in_its_package() -> None:
    page = (PACKAGE.parent / "docs" / "contributing" / "module-map.md").read_text(encoding="utf8")
    listed = [
        f"{package.replace('/', '.')}{module}"
        for package, modules in re.findall(r"^\| (?:`([a-z_/]+/)`|the root) \|[^|\n]*\|(.*)\|$", page, re.MULTILINE)
        for module in re.findall(r"`(\w+)`", modules)
    ]
    assert sorted(listed) == sorted(MODULES)


def test_nothing_looks_our_own_modules_up_by_name() -> None:
    """A look-up in `sys.modules`, or an import by a name in a string, would be an import that the other tests miss."""
    found = [
        f"{name}: {look_up}"
        for name, path in MODULES.items()
        for look_up in ('sys.modules.get("gensim_tfw2v', 'sys.modules["gensim_tfw2v', "import_module")
        if look_up in path.read_text(encoding="utf8")
    ]
    assert not found, "\n".join(found)


def test_no_design_imports_another() -> None:
    designs = ("downpour", "synchronous", "averaging", "partition", "columns", "lbfgs")
    folders = tuple(f"placement.{design}." for design in designs)
    design_of = {name: name.split(".")[1] for name in MODULES if name.startswith(folders)}
    foreign = [
        f"{name} imports {found}"
        for name, design in design_of.items()
        for found in imported_by(MODULES[name])
        if design_of.get(found, design) != design
    ]
    assert not foreign, "\n".join(foreign)


def test_modules_of_placement_are_named_by_what_they_hold_but_for_each_designs_entry() -> None:
    names = collections.Counter(name.rpartition(".")[2] for name in MODULES if name.startswith("placement."))
    assert {name for name, count in names.items() if count > 1} <= {"choice", "placement", "member"}


def test_the_root_holds_few_modules() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= 9


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
    """Training knows no model, and the log, merging and files know its vectors."""
    names = {"wv", "syn1", "syn1neg", "cum_table", "train_count", "epoch_losses", "training_report"}
    naming = {
        name
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8")))
        if isinstance(node, ast.Attribute) and node.attr in names and layer_of(name) < LAYER_OF["model"]
    }
    assert naming == {"files.models"}  # which writes gensim's models


def test_one_module_uses_private_parts_of_tensorflow() -> None:
    private = re.compile(r"tensorflow\.python|__internal__|_pywrap|\b_(server_def|py_funcs|add_control_dependencies)\b")
    using = {name for name, path in MODULES.items() if private.search(path.read_text(encoding="utf8"))}
    assert using == {"runtime.private_tensorflow"}


def test_only_the_graph_modules_import_tensorflow_directly() -> None:
    importing = {name for name, path in MODULES.items() if "import tensorflow as tf" in path.read_text(encoding="utf8")}
    assert importing == {
        "placement.averaging.round_block",
        "placement.averaging.exchange",
        "placement.averaging.member_graphs",
        "placement.averaging.worker_rows",
        "placement.columns.column_blocks",
        "placement.columns.column_graphs",
        "placement.columns.lane",
        "placement.columns.column_maths",
        "placement.columns.batch_counters",
        "placement.lbfgs.gradient",
        "placement.lbfgs.portion_graphs",
        "placement.lbfgs.portion",
        "placement.lbfgs.server_vectors",
        "placement.partition.share_block",
        "placement.server_rows.block_graphs",
        "placement.server_rows.messages",
        "placement.server_rows.numbering",
        "placement.server_rows.pull",
        "placement.server_rows.push",
        "placement.server_rows.staging",
        "placement.server_rows.sums",
        "placement.server_rows.worker_training",
        "placement.synchronous.part_graphs",
        "placement.tasks.block",
        "placement.tasks.graph_parts",
        "placement.tasks.joined_reports",
        "placement.tasks.own_training",
        "placement.tasks.plain_block",
        "placement.tasks.refused_steps",
        "runtime.tensorflow",
        "steps.adagrad",
        "steps.arguments",
        "steps.compiled",
        "steps.concurrent_updates",
        "steps.draws.block",
        "steps.draws.graph",
        "steps.draws.grid",
        "steps.draws.negatives",
        "steps.draws.signature",
        "steps.draws.streams",
        "steps.draws.subsampling",
        "steps.draws.windows",
        "steps.graph",
        "steps.maths",
        "steps.missed_changes",
        "steps.partner_directions",
        "steps.plain.bags",
        "steps.plain.batches",
        "steps.plain.cbow",
        "steps.plain.contexts",
        "steps.plain.huffman_paths",
        "steps.plain.in_turn",
        "steps.plain.rows",
        "steps.plain.table",
        "steps.rows",
        "steps.side_by_side",
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
