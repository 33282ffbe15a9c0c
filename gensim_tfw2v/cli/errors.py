"""The error that a command reports, one line for each message."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class CommandError(Exception):
    """An error whose messages are one line each and name the wrong value, with the exit code of the command."""

    def __init__(self, *messages: str, exit_code: int = 2) -> None:
        super().__init__(*messages)
        self.exit_code = exit_code

    def __str__(self) -> str:
        return "\n".join(map(str, self.args))


@contextlib.contextmanager
def refusing(*kinds: type[Exception], prefix: str = "", exit_code: int = 2) -> Iterator[None]:
    """Raise errors of these kinds as errors of the command line, by default of its usage."""
    try:
        yield
    except kinds as error:
        raise CommandError(f"{prefix}{error}", exit_code=exit_code) from error
