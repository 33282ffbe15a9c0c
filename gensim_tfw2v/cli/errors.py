"""The error that a command reports to its user in one line."""

from __future__ import annotations


class CommandError(Exception):
    """What is wrong, in one line that names the offending value, and the exit code that goes with it."""

    def __init__(self, message: str, exit_code: int = 2) -> None:
        super().__init__(message)
        self.exit_code = exit_code
