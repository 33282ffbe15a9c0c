"""The documentation's pages: their prose, their code and commands, and a run of all that they show."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

from support.free_ports import free_ports

ROOT = Path(__file__).parents[2]
DRIVER = Path(__file__).parent / "page_driver.py"
_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
# Commands that install something, or need a person. They are not run; what they name has to be there.
_NOT_RUN = ("pip install", "scripts/", ". ", "jupyter ", "apt-get ")
# What the run does in place of a command: the demo's corpus, without an environment of its own.
_INSTEAD = {"scripts/demo": "mkdir -p demo-output && python examples/wiki_corpus.py demo-output/wiki.txt"}
_MINUTES = 10


@dataclass(frozen=True)
class Block:
    """A block of code: its language, "" for commands, and its text."""

    language: str
    text: str

    @property
    def commands(self) -> list[str]:
        """The block's commands, without comments."""
        lines = self.text.replace("\\\n", " ").splitlines()
        found = (re.sub(r"(^|\s+)#.*", "", line).strip() for line in lines)
        return [command for command in found if command]


def blocks(page: Path) -> list[Block]:
    """Return a page's blocks of code in turn."""
    found = _BLOCK.findall(page.read_text(encoding="utf8"))
    return [Block(language, textwrap.dedent(text)) for _, language, text in found]


def without_blocks(page: Path) -> str:
    """Return a page's text without its blocks of code."""
    return _BLOCK.sub("", page.read_text(encoding="utf8"))


def commands_not_run(page: Path) -> list[str]:
    """Return a page's commands that a run leaves out."""
    return [
        command
        for block in blocks(page)
        if not block.language
        for command in block.commands
        if command.startswith(_NOT_RUN)
    ]


def steps(page: Path) -> list[tuple[str, str]]:
    """Return what a run of a page does in turn: ("python", code) or ("command", command)."""
    found = []
    for block in blocks(page):
        if block.language == "python":
            found.append(("python", block.text))
        elif not block.language:
            commands = [_INSTEAD.get(command, command) for command in block.commands]
            found += [("command", command) for command in commands if not command.startswith(_NOT_RUN)]
    return found


def printed_by(page: Path, folder: Path) -> str:
    """Return what all code and commands of a page print, run in turn in a folder that is like a clone."""
    for entry in ROOT.iterdir():
        if not entry.name.startswith(".") and entry.suffix != ".egg-info":
            (folder / entry.name).symlink_to(entry)
    programs = folder / ".programs"
    programs.mkdir()
    for name, start in (("python", ""), ("tfw2v", "-m gensim_tfw2v ")):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {start}"$@"\n')
        program.chmod(0o755)
    todo = folder / ".steps.json"
    todo.write_text(json.dumps(steps(page)), encoding="utf8")
    environment = os.environ | {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
        "PYTHONUNBUFFERED": "1",
        "TFW2V_PYTHON": sys.executable,
        "TFW2V_PORT": str(free_ports(4)),
    }
    done = subprocess.run(
        [sys.executable, str(DRIVER), str(todo)],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60 * _MINUTES,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    return done.stdout


def sentences(page: Path) -> list[str]:
    """Return the sentences of a page's prose: no code, tables, headings or addresses of links."""
    text = without_blocks(page)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "code", text)
    text = re.sub(r"^(\||#|<).*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^\s*([-*]|\d+\.) ", "\n\n", text, flags=re.MULTILINE)
    paragraphs = (" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text))
    return [sentence for paragraph in paragraphs for sentence in re.split(r"(?<=[.!?])\s+", paragraph) if sentence]


def words(page: Path) -> int:
    """Return how many words a page has beside its code; the bars of tables are none."""
    return sum(bool(re.search(r"\w", word)) for word in without_blocks(page).split())


def shape(text: str) -> list[str]:
    """Return the lines of an output without its numbers, versions, names of machines and spaces."""
    lines = (re.sub(r"-?\d[\w,.]*", "0", re.sub(r"\S+/\d+", "0", line)).split() for line in text.splitlines())
    return [" ".join(line) for line in lines if line]
