"""Where `tfw2v train` begins: with a new model, with a saved one (--from), or at a checkpoint (--resume).

NumPy is imported, so only commands that run import this module, and help does not.
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gensim_tfw2v.arguments.argument import flag_of
from gensim_tfw2v.checkpoints.checkpoint import Checkpoint, absolute, is_checkpoint
from gensim_tfw2v.checkpoints.errors import CheckpointError, FolderInUseError
from gensim_tfw2v.checkpoints.folder import CheckpointFolder
from gensim_tfw2v.cli.errors import CommandError
from gensim_tfw2v.cli.train_arguments import OF_MODEL
from gensim_tfw2v.model.arguments import is_left_open
from gensim_tfw2v.training.state import usable

_OUTPUT = "output"  # key in the folder's notes: the model file of the command that trains there


def check_beginning(arguments: argparse.Namespace) -> None:
    """Raise an error if --resume, --checkpoint-dir or --from cannot be used with the other flags."""
    if arguments.resume and arguments.checkpoint_dir is None:
        raise CommandError("--resume needs the --checkpoint-dir of the training to resume")
    if arguments.checkpoint_dir is not None and _folder_of(arguments).path.parent == absolute(arguments.corpus):
        raise CommandError(f"--checkpoint-dir {str(arguments.checkpoint_dir)!r} lies in the corpus folder")
    if arguments.start is None:
        if arguments.freeze == "outputs":
            raise CommandError(
                "--freeze outputs needs a model to start from, because a new one has no output vectors yet: give --from"
            )
        return
    if not arguments.start.is_file():
        raise CommandError(f"--from {str(arguments.start)!r} is not there")
    if arguments.vectors_on_servers:
        raise CommandError("--from does not go with --vectors-on-servers, whose vectors are made on the servers")


def model_class(arguments: argparse.Namespace) -> Any:
    """Return the class of the model that is trained."""
    from gensim_tfw2v import TFDoc2Vec, TFFastText, TFWord2Vec

    return TFFastText if arguments.subwords else TFDoc2Vec if arguments.documents else TFWord2Vec


def saved_model(arguments: argparse.Namespace, settings: Mapping[str, Any]) -> Any:
    """Return the model that --from names with these settings, apart from those that it has already.

    Raise CommandError if the file holds no whole model, or if a setting that is not its default differs from what the
    model has.
    """
    cls = model_class(arguments)
    named = f"--from {str(arguments.start)!r}"
    model = loaded_model(cls, arguments.start, named)
    defaults = inspect.signature(cls).parameters
    for name, value in settings.items():
        if is_left_open(name, value):
            continue  # the model goes on as it was trained
        if name not in OF_MODEL:
            setattr(model, name, value)
        elif value != defaults[name].default and value != (
            own := getattr(model if hasattr(model, name) else model.wv, name)
        ):
            flag, own = flag_of(name), int(own) if name == "dm" else own
            raise CommandError(f"{flag} {value} does not go with {named}, whose model has {own}; leave {flag} out")
    return model


def loaded_model(cls: Any, path: Path, named: str, kind: str = "model that can be trained") -> Any:
    """Return the whole model of a class in a file; raise CommandError, which calls the file as `named`, if none is."""
    try:
        return cls.load(str(path))
    except Exception as error:  # unpickling a file that is no model can raise anything
        reason = " ".join(str(error).split()) or type(error).__name__
        raise CommandError(f"{named} is no {kind}: {reason}") from error


def overwrites_its_own(arguments: argparse.Namespace) -> bool:
    """Return whether a resumed command wrote the output itself, before it was killed or when it ended."""
    if not arguments.resume:
        return False
    noted = _folder_of(arguments).notes_if_whole().get(_OUTPUT)
    return bool(noted == str(absolute(arguments.output)))


def prepare_folder(arguments: argparse.Namespace) -> None:
    """Make the folder of checkpoints and note the output there; raise an error if this command cannot train with it."""
    if arguments.checkpoint_dir is None:
        return
    folder = _folder_of(arguments)
    with refusals(arguments), usable(folder, arguments.resume):
        folder.note(folder.notes_if_whole() | {_OUTPUT: str(absolute(arguments.output))})


def checkpoint_of(arguments: argparse.Namespace) -> Checkpoint | None:
    """Return the checkpoint to resume from, None if there is none."""
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
    path = absolute(arguments.checkpoint_dir)
    return CheckpointFolder(path.parent if arguments.resume and is_checkpoint(path) else path)
