"""The folder of checkpoints of `tfw2v train`: checked before anything slow is done, and where a command resumes."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gensim_tfw2v.checkpoints.errors import CheckpointError
from gensim_tfw2v.checkpoints.lock import FolderInUseError
from gensim_tfw2v.cli.errors import CommandError

if TYPE_CHECKING:
    from gensim_tfw2v.checkpoints.folder import Checkpoint, CheckpointFolder

_OUTPUT = "output"  # key in the folder's notes: the model file of the command that trains there


def check_flags(arguments: argparse.Namespace) -> None:
    """Raise an error if --resume cannot be used with the other flags."""
    if arguments.resume and arguments.checkpoint_dir is None:
        raise CommandError("--resume needs the --checkpoint-dir of the training to resume")
    if arguments.checkpoint_dir is None:
        return
    from gensim_tfw2v.checkpoints.checkpoint import absolute

    folder = _folder_of(arguments).path
    if folder.parent == absolute(arguments.corpus):
        raise CommandError(f"--checkpoint-dir {str(arguments.checkpoint_dir)!r} lies in the corpus folder")


def overwrites_its_own(arguments: argparse.Namespace) -> bool:
    """Return whether a resumed command wrote the output itself, before it was killed or when it ended."""
    from gensim_tfw2v.checkpoints.checkpoint import absolute

    if not arguments.resume:
        return False
    noted = _folder_of(arguments).notes_if_whole().get(_OUTPUT)
    return bool(noted == str(absolute(arguments.output)))


def prepare_folder(arguments: argparse.Namespace) -> None:
    """Make the folder and note the output there; raise an error if this command cannot train with the folder."""
    from gensim_tfw2v.checkpoints.checkpoint import absolute
    from gensim_tfw2v.training.state import usable

    if arguments.checkpoint_dir is None:
        return
    folder = _folder_of(arguments)
    with refusals(arguments), usable(folder, arguments.resume):
        folder.note(folder.notes_if_whole() | {_OUTPUT: str(absolute(arguments.output))})


def checkpoint_of(arguments: argparse.Namespace) -> Checkpoint | None:
    """Return the checkpoint to resume from, None if there is none."""
    from gensim_tfw2v.checkpoints.checkpoint import Checkpoint, absolute, is_checkpoint

    path = absolute(arguments.checkpoint_dir)
    return Checkpoint(path) if is_checkpoint(path) else _folder_of(arguments).newest()


@contextlib.contextmanager
def refusals(arguments: argparse.Namespace) -> Iterator[None]:
    """Raise errors about impossible requests as errors of usage; a damaged checkpoint is no such error."""
    try:
        yield
    except CheckpointError:
        raise
    except (ValueError, TypeError, FolderInUseError) as error:
        raise CommandError(str(error)) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise CommandError(f"--checkpoint-dir {str(arguments.checkpoint_dir)!r}: {reason}") from error


def _folder_of(arguments: argparse.Namespace) -> CheckpointFolder:
    from gensim_tfw2v.checkpoints.checkpoint import absolute, is_checkpoint
    from gensim_tfw2v.checkpoints.folder import CheckpointFolder

    path = absolute(arguments.checkpoint_dir)
    return CheckpointFolder(path.parent if arguments.resume and is_checkpoint(path) else path)
