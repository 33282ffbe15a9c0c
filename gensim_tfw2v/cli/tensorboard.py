"""`tfw2v tensorboard`: starts TensorBoard, by default for this machine only."""

from __future__ import annotations

import argparse
from pathlib import Path

from gensim_tfw2v.cli.arguments import whole_number
from gensim_tfw2v.cli.errors import CommandError

DESCRIPTION = """Start TensorBoard on the logs in FOLDER, and run it until interrupted (Ctrl-C). It listens on
127.0.0.1 unless --host is given: whoever can reach it can read what is in FOLDER."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v tensorboard`."""
    add = parser.add_argument
    add("logdir", metavar="FOLDER", type=Path, help="folder of one training's log, or of several")
    add(
        "--port",
        metavar="N",
        type=whole_number(0),
        default=6006,
        help="port to listen on, 0 for any free port (default: %(default)s)",
    )
    add("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")


def run(arguments: argparse.Namespace) -> None:
    """Serve the logs until interrupted."""
    if not arguments.logdir.is_dir():
        raise CommandError(f"folder {str(arguments.logdir)!r} is not there")
    from tensorboard import default, program

    server = program.TensorBoard(default.get_plugins())
    address = ["--host", arguments.host, "--port", str(arguments.port)]
    server.configure(["tensorboard", "--logdir", str(arguments.logdir), *address])
    try:
        exit_code = server.main()
    except SystemExit as stop:
        exit_code = int(stop.code or 0)
    if exit_code:
        raise CommandError(f"TensorBoard could not be started on {arguments.host}:{arguments.port}", exit_code=1)
