"""Checks the files for scoring vectors that are named on the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gensim_tfw2v.cli.errors import CommandError

_FilesOfFlags = Mapping[str, Sequence[str] | None]


def check_score_files(pairs: _FilesOfFlags, analogies: _FilesOfFlags) -> None:
    """Raise an error that names a flag and its file, if vectors cannot be scored on one of these files.

    Parameters
    ----------
    pairs, analogies
        Files of word pairs and of analogies, by the flag that names them.
    """
    from gensim_tfw2v.evaluation.scoring import check_analogies, check_pairs

    for files_of_flags, check in ((pairs, check_pairs), (analogies, check_analogies)):
        for flag, paths in files_of_flags.items():
            for path in paths or ():
                try:
                    check(path)
                except OSError as error:
                    raise CommandError(f"{flag} {path!r} cannot be read: {error.strerror}") from error
                except ValueError as error:
                    raise CommandError(f"{flag}: {error}") from error
