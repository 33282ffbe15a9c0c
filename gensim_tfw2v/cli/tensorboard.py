"""`tfw2v tensorboard`: starts TensorBoard, by default for this machine only."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

from gensim_tfw2v.cli.arguments import add_value, whole_number
from gensim_tfw2v.cli.errors import CommandError
from gensim_tfw2v.runtime.tensorflow import import_quietly

DESCRIPTION = """Start TensorBoard on the logs in FOLDER, and run it until interrupted (Ctrl-C). It listens on
127.0.0.1 unless --host names another address. Whoever reaches it can read what is in FOLDER."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v tensorboard`."""
    parser.add_argument("logdir", metavar="FOLDER", type=Path, help="folder of one training's log, or of several")
    add_value(parser, "--port", "N", whole_number(0), 6006, "port to listen on, 0 for any free port")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")


def run(arguments: argparse.Namespace) -> None:
    """Serve the logs until interrupted."""
    if not arguments.logdir.is_dir():
        raise CommandError(f"folder {str(arguments.logdir)!r} is not there")
    print(f"starting TensorBoard on {str(arguments.logdir)!r}", file=sys.stderr)
    server = _server()
    address = ["--host", arguments.host, "--port", str(arguments.port)]
    server.configure(["tensorboard", "--logdir", str(arguments.logdir), *address])
    try:
        exit_code = server.main()
    except SystemExit as stop:
        exit_code = int(stop.code or 0)
    if exit_code:
        raise CommandError(f"TensorBoard could not be started on {arguments.host}:{arguments.port}", exit_code=1)


def _server() -> Any:
    """Return TensorBoard. It reports errors, but prints nothing else before the line with its address."""
    import_quietly()  # before TensorBoard imports TensorFlow
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "pkg_resources is deprecated", UserWarning)
        from tensorboard import assets, default
        from tensorboard.program import TensorBoard

        from gensim_tfw2v.tensorboard.pages import with_columns, with_labels

        plugins = with_labels(default.get_plugins())
    # This message has several lines about how TensorBoard reads logs. The package `tensorboard` has a stand-in for the
    # module.
    sys.modules[TensorBoard.__module__]._DATA_SERVER_ADVISORY_MESSAGE = ""  # type: ignore[attr-defined]
    return TensorBoard(plugins, with_columns(assets.get_default_assets_zip_provider()))
