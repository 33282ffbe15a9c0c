"""The error that a command reports in one line."""

from __future__ import annotations


class CommandError(Exception):
    """An error whose message is one line that names the wrong value, with the exit code of the command."""

    def __init__(self, message: str, exit_code: int = 2) -> None:
        super().__init__(message)
        self.exit_code = exit_code
