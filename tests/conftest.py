"""Which tests run, and fixtures: several run a test on gensim's class and ours, so that a wrong expectation fails."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from gensim.models import Word2Vec
from gensim.test.utils import datapath
from hypothesis import settings
from support.contract import MODES, PURE_MODES
from support.trained_mode import train_in

if TYPE_CHECKING:
    from support.clustered import Clustered

    from gensim_tfw2v.checkpoints.folder import CheckpointFolder
    from gensim_tfw2v.cluster.local import LocalCluster

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
settings.register_profile("untimed", deadline=None)  # on a busy machine, any example may take long
settings.load_profile("untimed")

# These files take longest, roughly in this order, many of them with --all only. They begin first, so that no process is
# left with a long file at the end.
LONG_FILES = [
    "test_gensim_suite_on_cluster.py",
    "test_without_libraries.py",
    "test_step.py",
    "test_benchmarks.py",
    "test_gensim_suite.py",
    "test_recovery.py",
    "test_faults.py",
    "test_fault_schedules.py",
    "test_design_losses.py",
    "test_design_endings.py",
    "test_design_resuming.py",
    "test_design_vectors.py",
    "test_design_callbacks.py",
    "test_synchronous.py",
    "test_averaging.py",
    "test_partition.py",
    "test_partition_recovery.py",
    "test_cluster.py",
    "test_resume.py",
    "test_design_table.py",
    "test_columns.py",
    "test_hung_tasks.py",
    "test_lbfgs.py",
    "test_cluster_endings.py",
    "test_placement.py",
    "test_pages.py",
    "test_notebook.py",
    "test_quality.py",
    "test_tensorboard_browser.py",
    "test_lost_tasks.py",
    "test_ports.py",
    "test_contract_settings.py",
    "test_gensim_fasttext_suite.py",
    "test_fasttext.py",
    "test_document_vectors.py",
    "test_gensim_doc2vec_suite.py",
    "test_documents_on_clusters.py",
    "test_documents_by_plain_step.py",
    "test_concatenated_documents.py",
    "test_worker_devices.py",
    "test_server_states.py",
    "test_how_to_pages.py",
    "test_document_validation.py",
    "test_plain_bags.py",
    "test_document_models.py",
    "test_changed_models.py",
    "test_round_slots.py",
    "test_resume_settings.py",
    "test_cluster_connection.py",
    "test_worker_cores.py",
    "test_side_by_side.py",
    "test_one_worker.py",
    "test_progress.py",
    "test_file_scan.py",
    "test_reading_processes.py",
    "test_observe.py",
    "test_logdir.py",
    "test_observe_cluster.py",
    "test_reproducible.py",
    "test_interruption.py",
    "test_cli_train.py",
    "test_tensorflow_runtime.py",
    "test_divergence.py",
    "test_operation_loading.py",
    "test_whole_files.py",
    "test_server_vectors.py",
    "test_cluster_scripts.py",
    "test_encoded_corpus.py",
    "test_node_table.py",
    "test_stale_blocks.py",
    "test_examples.py",
    "test_site.py",
]
LEFT_OUT = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --all, --device and --mode."""
    parser.addoption("--all", dest="all_tests", action="store_true", help="run tests that are marked slow as well")
    parser.addoption("--device", help="train on this device wherever a test says nothing of devices, as check-gpu does")
    parser.addoption("--mode", choices=list(MODES), help="train the designs of the contract suite in this mode")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the device, and the mode."""
    if device := config.getoption("device"):
        from support.on_device import train_on

        train_on(device)
    if mode := config.getoption("mode"):
        train_in(mode)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put long files first, and leave out slow tests that the command does not name."""
    places = {name: place for place, name in enumerate(LONG_FILES)}
    items.sort(key=lambda item: places.get(item.path.name, len(places)))  # tests of a file stay in order
    if config.getoption("all_tests"):
        return
    left_out = [item for item in items if item.get_closest_marker("slow") and not is_named(item, config.args)]
    config.stash[LEFT_OUT] = len(left_out)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


def is_named(item: pytest.Item, arguments: list[str]) -> bool:
    """Return whether an argument names a test: `file.py::test`, with or without parameters."""
    file, _, test = item.nodeid.partition("::")
    names = [argument.partition("::") for argument in arguments if "::" in argument]
    return any(Path(path).name == Path(file).name and test.startswith(name) for path, _, name in names)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the process that shows the results how many tests were left out here."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash.get(LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take from a process how many tests were left out: the same in each."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say how many tests were left out."""
    if left_out := config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(f"tests marked slow, left out: {left_out} (--all runs them as well)")


@pytest.fixture
def tfword2vec_class() -> type[Any]:
    """Return our class; for behaviour that gensim does not have."""
    import gensim_tfw2v

    our_class: type[Any] = gensim_tfw2v.TFWord2Vec
    return our_class


@pytest.fixture(params=[pytest.param("gensim", marks=pytest.mark.slow), "tfword2vec"])
def word2vec_class(request: pytest.FixtureRequest) -> type[Any]:
    """Return gensim's class, then ours."""
    chosen: type[Any] = Word2Vec if request.param == "gensim" else request.getfixturevalue("tfword2vec_class")
    return chosen


@pytest.fixture(params=list(MODES))
def mode(request: pytest.FixtureRequest) -> dict[str, int]:
    """Return the arguments of each model and training method, and of both methods at once."""
    return MODES[request.param]


@pytest.fixture(params=list(PURE_MODES))
def pure_mode(request: pytest.FixtureRequest) -> dict[str, int]:
    """Return the arguments of each model with either one of the two training methods."""
    return PURE_MODES[request.param]


@pytest.fixture(scope="session")
def lee_file() -> Path:
    """Return the path of the Lee background corpus that gensim's wheel holds (300 articles, 60,000 words)."""
    return Path(datapath("lee_background.cor"))


@pytest.fixture(scope="session")
def lee(lee_file: Path) -> list[list[str]]:
    """Return the Lee background corpus, lower-cased, as lists of words without punctuation."""
    from gensim.utils import simple_preprocess

    return [simple_preprocess(line) for line in lee_file.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make an empty folder the working directory and Python's folder for temporary files; return it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path


@pytest.fixture(scope="session")
def clustered(tmp_path_factory: pytest.TempPathFactory, lee: list[list[str]]) -> Clustered:
    """Return a model that has been trained over two servers and two workers, with its log."""
    from support.clustered import train_on_cluster  # which loads TensorFlow, as most tests need not

    return train_on_cluster(tmp_path_factory.mktemp("clustered") / "logs" / "cluster", lee)


@pytest.fixture
def mortal_cluster() -> LocalCluster:
    """Return a cluster of two servers and two workers that a test may stop and kill, and need not mend."""
    from support.placements import mortal_cluster

    return mortal_cluster()


@pytest.fixture(scope="module", autouse=True)
def clusters_end_with_their_file(pytestconfig: pytest.Config) -> Iterator[None]:
    """End clusters after the last test of a file; the common one only if many tests have trained on it."""
    yield
    if "support.placements" in sys.modules:  # which loads TensorFlow
        from support.placements import end_clusters

        end_clusters(and_common=pytestconfig.getoption("all_tests"))


@pytest.fixture
def folder(tmp_path: Path) -> CheckpointFolder:
    """Return an empty folder of checkpoints."""
    from gensim_tfw2v.checkpoints.folder import CheckpointFolder

    made = CheckpointFolder(tmp_path / "checkpoints")
    made.prepare()
    return made


@pytest.fixture
def heeded_interrupts() -> Iterator[None]:
    """Take SIGINT seriously, to which a shell makes its background jobs deaf."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make pieces of 32 bytes, so that small arrays of checkpoints have several."""
    from gensim_tfw2v.checkpoints import arrays

    monkeypatch.setattr(arrays, "PIECE_BYTES", 32)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return the folder of a file system of a megabyte."""
    from support.small_disks import mounted

    with mounted(tmp_path / "small disk") as place:
        yield place


@pytest.fixture
def all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut synchronous rounds into all parts from the beginning."""
    from gensim_tfw2v.placement.calls.ramp_up import RampUp

    monkeypatch.setattr(RampUp, "limit", lambda ramp_up: ramp_up._most)


@pytest.fixture
def corpus(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that writes a text to a file, and returns the file's path."""

    def write(text: str) -> Path:
        path = tmp_path / "corpus.txt"
        path.write_bytes(text.encode())
        return path

    return write
