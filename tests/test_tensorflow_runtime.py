"""What TensorFlow is told before it is imported."""

from __future__ import annotations

import os
import subprocess
import sys

ALLOCATOR = "TF_ONEDNN_USE_SYSTEM_ALLOCATOR"
LOAD = """
import os, psutil
from gensim_tfw2v.tensorflow_runtime import load_tensorflow

tf = load_tensorflow()
"""
MEGABYTES_KEPT = """
def held():
    return psutil.Process().memory_info().rss / 1e6

before = held()
tensor = tf.fill([64, 1024, 1024], 1.0)
assert held() - before > 200
del tensor
print(held() - before)
"""


def printed_by(program: str, **environment: str) -> str:
    """Return what a program prints in a process of its own, in whose environment nobody has chosen an allocator."""
    others = {name: value for name, value in os.environ.items() if name != ALLOCATOR}
    command = [sys.executable, "-c", LOAD + program]
    return subprocess.run(command, env=others | environment, capture_output=True, text=True, check=True).stdout


def test_memory_of_tensors_that_are_gone_is_not_kept_in_a_pool_of_all_threads() -> None:
    assert float(printed_by(MEGABYTES_KEPT)) < 50  # of 268


def test_the_users_choice_of_an_allocator_stands() -> None:
    assert printed_by(f"print(os.environ['{ALLOCATOR}'])", **{ALLOCATOR: "0"}).strip() == "0"


def test_keras_is_imported_when_it_is_used_and_not_before() -> None:
    program = """
import sys
print("keras" in sys.modules)
from tensorflow.keras.optimizers import SGD
print(tf.keras.layers.Dense.__name__, SGD.__name__)
"""
    assert printed_by(program).split() == ["False", "Dense", "SGD"]


def test_a_keras_that_is_imported_already_stays_whole() -> None:
    # Importing Keras imports TensorFlow, unless it runs on something else; so something stands in for it here.
    program = f"""
import sys, types
there = sys.modules["keras.src.optimizers"] = types.ModuleType("optimizers")
{LOAD}
print(sys.modules.get("keras.src.optimizers") is there)
"""
    command = [sys.executable, "-c", program]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "True"


def test_python_looks_for_no_garbage_while_it_imports_tensorflow_and_does_so_again_afterwards() -> None:
    program = f"""
import gc
starts = 0
def count(phase, info):
    global starts
    starts += phase == "start"
gc.callbacks.append(count)
{LOAD}
print(starts, gc.isenabled())
"""
    command = [sys.executable, "-c", program]
    starts, enabled = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert int(starts) < 30  # some hundred otherwise, for two generations that are looked at often
    assert enabled == "True"


def test_a_user_who_wants_no_garbage_looked_for_is_obeyed() -> None:
    program = f"import gc; gc.disable(){LOAD}print(gc.isenabled())"
    command = [sys.executable, "-c", program]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "False"
