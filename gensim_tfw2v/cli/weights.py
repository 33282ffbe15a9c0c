"""The weights of sentences in the file that `--weights` names."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any

from gensim_tfw2v.cli.errors import CommandError


def read_weights(path: str | None) -> Any:
    """Return the numbers in a file, one a line, as an array that `train()` takes; None if there is no file.

    Raise CommandError that names the file, and the line that is no number.
    """
    if path is None:
        return None
    from gensim_tfw2v.corpus.sentence_weights import sentence_weights

    found = array("d")
    try:
        with Path(path).open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    found.append(float(line))
                except ValueError:
                    text = line.strip()[:40]
                    raise CommandError(f"--weights {path!r}: line {number} is {text!r}, and not a number") from None
        return sentence_weights(found)
    except OSError as error:
        raise CommandError(f"--weights {path!r} cannot be read: {error.strerror}") from error
    except ValueError as error:  # text that is no UTF-8, or a weight that is negative or not finite
        raise CommandError(f"--weights {path!r}: {error}") from error
