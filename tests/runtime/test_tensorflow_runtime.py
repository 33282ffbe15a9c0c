"""TensorFlow is set up before its import, the user's settings are respected, and forks are refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.child_process import run_script

from gensim_tfw2v.runtime.processor import instruction_level

ALLOCATOR, ONEDNN = "TF_ONEDNN_USE_SYSTEM_ALLOCATOR", "TF_ENABLE_ONEDNN_OPTS"
LOAD = """
import os, psutil
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

tf = load_tensorflow()
"""
LOADED_AS_IT_COMES = """
import gc, json, sys
from tensorflow.python.util._pywrap_util_port import IsMklEnabled

facts = {"onednn": IsMklEnabled(), "collecting": gc.isenabled(), "keras at first": "keras" in sys.modules}
new = len(gc.get_objects(generation=0)) + len(gc.get_objects(generation=1))
facts["share of new objects"] = new / len(gc.get_objects())

def held():
    return psutil.Process().memory_info().rss / 1e6

before = held()
tensor = tf.fill([64, 1024, 1024], 1.0)
facts["megabytes of a tensor"] = held() - before
del tensor
facts["megabytes kept"] = held() - before

from tensorflow.keras.optimizers import SGD
facts["keras"] = [tf.keras.layers.Dense.__name__, SGD.__name__]

pid = os.fork()
if pid == 0:
    try:
        load_tensorflow()
    except RuntimeError as error:
        os._exit(7 if "fork" in str(error) and str(os.getppid()) in str(error) else 1)
    os._exit(0)
facts["exit code of a forked process"] = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(json.dumps(facts))
"""
BEFORE = """
import gc, sys, types
looks = []
gc.callbacks.append(lambda phase, _: looks.append(phase))
gc.freeze()
# Importing Keras imports TensorFlow, unless it runs on something else; so something stands in for it here.
there = sys.modules["keras.src.optimizers"] = types.ModuleType("optimizers")
"""
LOADED_AFTER_THAT = """
import json
looks = looks.count("start")
same = sys.modules.get("keras.src.optimizers") is there
print(json.dumps({"looks": looks, "collecting": gc.isenabled(), "frozen": gc.get_freeze_count(), "same keras": same}))
"""
LOADED_WITH_CHOICES = f"""
import gc, json, os
from tensorflow.python.util._pywrap_util_port import IsMklEnabled
print(json.dumps({{"collecting": gc.isenabled(), "allocator": os.environ["{ALLOCATOR}"], "onednn": IsMklEnabled()}}))
"""


def printed_by(program: str, before: str = "", **environment: str) -> str:
    """Return what a program prints in a separate process, whose environment has no settings of TensorFlow.

    `before` runs before TensorFlow is loaded, `program` after it.
    """
    others = {name: value for name, value in os.environ.items() if name not in (ALLOCATOR, ONEDNN)}
    command = [sys.executable, "-c", before + LOAD + program]
    return subprocess.run(command, env=others | environment, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def as_it_comes() -> dict[str, Any]:
    """Return what is true in a process that has loaded TensorFlow, where the user has chosen nothing."""
    facts: dict[str, Any] = json.loads(printed_by(LOADED_AS_IT_COMES))
    return facts


@pytest.fixture(scope="module")
def after_others() -> dict[str, Any]:
    """Return what is true after loading TensorFlow in a process that had frozen objects and imported Keras before."""
    facts: dict[str, Any] = json.loads(printed_by(LOADED_AFTER_THAT, BEFORE))
    return facts


@pytest.fixture(scope="module")
def with_choices() -> dict[str, Any]:
    """Return what is true where the user wants no garbage collected, an allocator, and no oneDNN."""
    choices = {ALLOCATOR: "0", ONEDNN: "0"}
    facts: dict[str, Any] = json.loads(printed_by(LOADED_WITH_CHOICES, "import gc; gc.disable()", **choices))
    return facts


def test_memory_of_tensors_that_are_gone_is_not_kept_in_a_pool_of_all_threads(as_it_comes: dict[str, Any]) -> None:
    assert as_it_comes["megabytes of a tensor"] > 200
    assert as_it_comes["megabytes kept"] < 50


def test_the_users_choice_of_an_allocator_stands(with_choices: dict[str, Any]) -> None:
    assert with_choices["allocator"] == "0"


@pytest.mark.slow
def test_tasks_that_a_program_starts_choose_for_themselves() -> None:
    program = f"""
from gensim_tfw2v import local_cluster
with local_cluster(ps=1, workers=1) as cluster:
    environments = [psutil.Process(process.pid).environ() for process in cluster.processes.values()]
print([environment.get(name) for environment in environments for name in ("{ALLOCATOR}", "{ONEDNN}")])
"""
    assert printed_by(program).strip() == "[None, None, None, None]"
    assert printed_by(program, **{ALLOCATOR: "1", ONEDNN: "0"}).strip() == "['1', '0', '1', '0']"


@pytest.mark.skipif(instruction_level() == "baseline", reason="oneDNN is for processors with AVX2")
def test_matrices_are_multiplied_by_onednn_unless_the_user_would_not_have_it(
    as_it_comes: dict[str, Any], with_choices: dict[str, Any]
) -> None:
    assert (as_it_comes["onednn"], with_choices["onednn"]) == (True, False)


def test_keras_is_imported_when_it_is_used_and_not_before(as_it_comes: dict[str, Any]) -> None:
    assert not as_it_comes["keras at first"]
    assert as_it_comes["keras"] == ["Dense", "SGD"]


@pytest.mark.slow
def test_a_keras_that_is_imported_already_stays_whole(after_others: dict[str, Any]) -> None:
    assert after_others["same keras"]


def test_python_looks_for_no_garbage_while_it_imports_tensorflow_and_does_so_again_afterwards(
    after_others: dict[str, Any],
) -> None:
    assert after_others["looks"] < 30  # several hundred otherwise
    assert after_others["collecting"]


def test_what_comes_with_tensorflow_counts_as_old_when_python_looks_for_garbage(as_it_comes: dict[str, Any]) -> None:
    assert as_it_comes["collecting"]
    assert as_it_comes["share of new objects"] < 0.1


def test_objects_that_the_user_froze_stay_frozen(after_others: dict[str, Any]) -> None:
    assert after_others["frozen"] > 0


def test_a_user_who_wants_no_garbage_looked_for_is_obeyed(with_choices: dict[str, Any]) -> None:
    assert not with_choices["collecting"]


FORK = """
import os

def fork():
    pid = os.fork()
    if pid == 0:
        try:
            from gensim_tfw2v.runtime.tensorflow import load_tensorflow
            print(load_tensorflow().constant(5).numpy(), flush=True)
        except RuntimeError as error:
            print("fork" in str(error) and str(os.getppid()) in str(error), flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
"""


def test_a_process_forked_from_one_in_which_the_package_has_started_tensorflow_is_told_so(
    as_it_comes: dict[str, Any],
) -> None:
    assert as_it_comes["exit code of a forked process"] == 7


@pytest.mark.slow
def test_a_forked_process_can_use_tensorflow_if_it_had_been_imported_alone_and_is_told_so_if_it_had_run() -> None:
    program = """
import gensim_tfw2v, tensorflow
fork()
tensorflow.constant(0)
fork()
"""
    assert run_script(FORK + program).stdout.split() == ["5", "True"]


@pytest.mark.slow
def test_where_tensorflow_ran_without_the_package_a_forked_process_is_told_so_and_this_one_is_not() -> None:
    program = """
import tensorflow as tf
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
tf.constant(0)
fork()
from gensim_tfw2v.runtime.tensorflow import load_tensorflow
print(load_tensorflow().constant(5).numpy())
"""
    assert run_script(FORK + program).stdout.split() == ["True", "5"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "parent",
    [
        "from gensim_tfw2v.runtime.tensorflow import load_tensorflow; load_tensorflow()",
        "import gensim_tfw2v, tensorflow as tf; tf.constant(0)",
        "import tensorflow as tf, gensim_tfw2v; tf.constant(0)",
        "import tensorflow as tf; tf.constant(0)",
    ],
    ids=["started by the package", "started after its import", "started before its import", "without the package"],
)
def test_a_process_forked_from_one_that_tensorflow_ran_in_is_told_so(parent: str) -> None:
    assert run_script(f"{FORK}{parent}; fork()").stdout.split() == ["True"]


def test_training_within_a_graph_is_refused_and_leaves_later_trainings_alone() -> None:
    program = """
from gensim_tfw2v import TFWord2Vec

def train():
    TFWord2Vec([["a", "b", "c"]] * 20, min_count=1, vector_size=4)
    return tf.constant(1)

def refused(begin):
    try:
        begin()
    except RuntimeError as error:
        return "tf.function" in str(error)

with tf.Graph().as_default():
    print(refused(train))
print(refused(tf.function(train, autograph=False)), train().numpy())
"""
    assert printed_by(program).split() == ["True", "True", "1"]


@pytest.mark.slow
def test_models_train_where_the_user_has_chosen_numpys_rules_for_types() -> None:
    program = """
import tensorflow as tf
tf.experimental.numpy.experimental_enable_numpy_behavior(dtype_conversion_mode="safe")
from gensim_tfw2v import TFWord2Vec

for sg in (0, 1):
    model = TFWord2Vec([["a", "b", "c"]] * 20, sg=sg, hs=1, min_count=1, vector_size=4)
    print(len(model.epoch_losses))
"""
    assert run_script(program).stdout.split() == ["5", "5"]


def test_an_import_ahead_is_quiet_and_leaves_tensorflow_as_loading_it_does() -> None:
    program = """
import json, sys
from gensim_tfw2v.runtime.tensorflow import import_ahead, is_tensorflow_loaded, load_tensorflow

import_ahead()
print("while it is imported", file=sys.stderr)
facts = {"loaded": [is_tensorflow_loaded()]}
tf = load_tensorflow()
facts["loaded"].append(is_tensorflow_loaded())
facts["intra"] = tf.config.threading.get_intra_op_parallelism_threads()
print(json.dumps(facts))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"loaded": [False, True], "intra": 1}
    assert done.stderr == "while it is imported\n"


def test_an_import_ahead_that_fails_is_reported_where_tensorflow_is_needed(tmp_path: Path) -> None:
    (tmp_path / "tensorflow.py").write_text("raise ImportError('a library is missing')")
    program = f"""
import sys
from gensim_tfw2v.runtime.tensorflow import import_ahead, load_tensorflow

sys.path.insert(0, {str(tmp_path)!r})
import_ahead()
try:
    load_tensorflow()
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("a library is missing\n", "")
