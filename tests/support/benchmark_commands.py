"""The commands in benchmarks/, run on a corpus that takes no time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def corpus_in(folder: Path) -> Path:
    """Write 1500 words in 300 sentences; the similarity sets know some of them."""
    path = folder / "corpus.txt"
    sentences = ["tiger cat plane car train", "book paper computer keyboard cat", "money cash bank car tiger"]
    path.write_text("\n".join(sentences * 100) + "\n")
    return path


def commit_in(folder: Path) -> str:
    """Commit all files of a folder to a repository there, made if there is none, and return the commit."""
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "All files"]):
        subprocess.run([*git, *command], check=True)
    return subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()


def run_command(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCHMARKS / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)
