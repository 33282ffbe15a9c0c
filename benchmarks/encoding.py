"""Times encoding a corpus by one process and by several: `python benchmarks/encoding.py --help`."""

from __future__ import annotations

import argparse
import filecmp
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from measuring.jobs import number_from

from gensim_tfw2v import encode_corpus


def repeated(corpus: Path, times: int, folder: Path) -> Path:
    """Return a file that holds a corpus several times over."""
    if times == 1:
        return corpus
    path = folder / "repeated.txt"
    with path.open("wb") as file:
        for _ in range(times):
            with corpus.open("rb") as source:
                shutil.copyfileobj(source, file)
    return path


def seconds_of(corpus: Path, folder: Path, **how: Any) -> float:
    """Return how long it takes to encode a corpus to a new folder."""
    began = time.perf_counter()
    encode_corpus(corpus, folder, **how)
    return time.perf_counter() - began


def are_equal(one: Path, other: Path) -> bool:
    """Return whether two folders have the same files, byte for byte."""
    names = sorted(path.name for path in one.iterdir())
    if names != sorted(path.name for path in other.iterdir()):
        return False
    return filecmp.cmpfiles(one, other, names, shallow=False)[0] == names


def measure(corpus: Path, folder: Path, ways: dict[str, dict[str, Any]], rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each round for each way to encode; all take turns, and must write the same files."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    first, new = folder / "first", folder / "new"
    for number in range(rounds + 1):  # the first round, whose disk and caches are cold, does not count
        for name, how in ways.items():
            taken = seconds_of(corpus, new, **how)
            if number:
                seconds[name].append(taken)
            if not first.exists():
                new.rename(first)
            elif not are_equal(first, new):
                raise SystemExit(f"{name} wrote other files")
            shutil.rmtree(new, ignore_errors=True)
    return seconds


def main() -> None:
    """Encode a corpus in several ways, and print how long each took."""
    parser = argparse.ArgumentParser(description=__doc__)
    add, count = parser.add_argument, number_from(1)
    add("corpus", type=Path, help="plain text of one sentence a line")
    add("--processes", type=count, nargs="+", default=[2], help="numbers of processes (default: 2)")
    add("--repeat", type=count, default=1, help="how many times over to read the corpus (default: 1)")
    add("--rounds", type=count, default=5, help="encodings of each kind (default: 5)")
    add("--folder", type=Path, help="where to write (default: the folder of temporary files)")
    arguments = parser.parse_args()
    ways: dict[str, dict[str, Any]] = {"one process": {"processes": 1}}
    for number in arguments.processes:
        ways |= {f"{number} processes": {"processes": number}, f"{number} readers": {"workers": number}}
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        corpus = repeated(arguments.corpus, arguments.repeat, Path(folder))
        size = corpus.stat().st_size
        found = measure(corpus, Path(folder), ways, arguments.rounds)
    print(f"{size / 1e6:,.0f} MB of text, {arguments.rounds} rounds; the same files in all ways")
    base = statistics.median(found["one process"])
    for name, seconds in found.items():
        median = statistics.median(seconds)
        spread = f"{min(seconds):.2f} to {max(seconds):.2f}"
        print(f"  {name:14} {median:6.2f} s ({spread}), {size / 1e6 / median:5.1f} MB/s, {base / median:.2f} times one")


if __name__ == "__main__":
    main()
