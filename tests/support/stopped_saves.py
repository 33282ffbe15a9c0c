"""Saves over an old model, each stopped at another moment: by kill -9, an error or an interrupt. Prints JSON.

Usage: stopped_saves.py FOLDER {kill,error,interrupt} SEP_LIMIT

A moment is when a file in FOLDER is about to be opened, moved, made or removed. Each save is in a process of its own.
Prints a list: for each save the moment, what is in the folder then, and what model loads or why none does.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gensim_tfw2v import TFWord2Vec
from support.stopped_writes import stop_at

OLD, NEW = 1.0, 2.0  # every number of the old model's arrays, and of the new one's


def filled(value: float) -> Any:
    """Return an untrained model whose arrays are full of one number."""
    model = TFWord2Vec(min_count=1, vector_size=4, hs=1)
    model.build_vocab([["cat", "dog", "cow"]])
    for array in (model.wv.vectors, model.syn1neg, model.syn1):
        array[:] = value
    return model


def numbers_in(model: Any) -> set[float]:
    """Return the numbers that a model's arrays hold."""
    return {float(number) for array in (model.wv.vectors, model.syn1neg, model.syn1) for number in np.unique(array)}


def save_and_stop(path: Path, moment: int, how: str, sep_limit: int) -> None:
    """Save the new model, and stop at the moment of this number; say which, or nothing if there is none."""
    model = filled(NEW)
    stop_at(moment, how, lambda changed: changed.startswith(str(path.parent)))
    try:
        model.save(str(path), sep_limit=sep_limit)
    except (OSError, KeyboardInterrupt) as error:
        print(type(error).__name__, error, flush=True)


def stopped(folder: Path, moment: int, how: str, sep_limit: int) -> dict[str, Any] | None:
    """Save over an old model in an empty folder, stop, and return what is there then."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    path = folder / "model"
    filled(OLD).save(str(path), sep_limit=sep_limit)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(writing, 1)
        save_and_stop(path, moment, how, sep_limit)
        os._exit(0)
    os.close(writing)
    with open(reading) as said:
        lines = said.read().splitlines()
    os.waitpid(child, 0)
    if not lines:
        return None
    found: dict[str, Any] = {"moment": lines[0], "raised": lines[1:], "left": sorted(os.listdir(folder))}
    found.update(loaded(path))
    if "error" in found:
        found["repaired"] = [repaired(folder, which) for which in ("new", "old")]
    return found


def loaded(path: Path) -> dict[str, Any]:
    """Return what numbers the arrays of a model hold, or why it does not load."""
    try:
        return {"numbers": sorted(numbers_in(TFWord2Vec.load(str(path))))}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def repaired(folder: Path, which: str) -> dict[str, Any]:
    """Do in a copy of a folder what the error says, and return what model loads."""
    copy = folder.with_name("copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    (kept,) = copy.glob(".tfw2v-*")
    for file in (kept / which).iterdir():
        file.replace(copy / file.name)
    shutil.rmtree(kept)
    return loaded(copy / "model")


def main(folder: str, how: str, sep_limit: str) -> None:
    """Stop at one moment after the other until a save is done."""
    results: list[dict[str, Any]] = []
    while (result := stopped(Path(folder), len(results) + 1, how, int(sep_limit))) is not None:
        results.append(result)
    print(json.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
