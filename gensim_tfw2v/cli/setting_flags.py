"""Settings of a training ↔ the flags of `tfw2v train`, and the texts of their values."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Mapping
from typing import Any

from gensim_tfw2v.cli import train_arguments
from gensim_tfw2v.cli.errors import CommandError

_SWITCHES = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


def value_from(name: str, text: str) -> Any:
    """Return the value of a setting that a text stands for; raise CommandError if it is none."""
    actions = _actions_of(name)
    try:
        if _is_switch(actions[0]):
            return _SWITCHES[text.lower()]
        if isinstance(actions[0], argparse._StoreConstAction):
            return next(action.const for action in actions if str(action.const) == text)
        value = text if actions[0].type is None else actions[0].type(text)  # type: ignore[operator]
    except argparse.ArgumentTypeError as error:
        raise CommandError(f"{name}={text}: {error}") from error
    except (KeyError, StopIteration, ValueError):
        raise CommandError(f"{name}={text}: {text!r} is none of {', '.join(_values_of(actions))}") from None
    if actions[0].choices is not None and value not in actions[0].choices:
        raise CommandError(f"{name}={text}: {text!r} is none of {', '.join(_values_of(actions))}")
    return value


def flags_of(settings: Mapping[str, Any]) -> list[str]:
    """Return the flags with which `tfw2v train` has these settings, without those that are its defaults."""
    return [flag for name, value in settings.items() for flag in _flags(name, value)]


def _flags(name: str, value: Any) -> list[str]:
    actions = _actions_of(name)
    if value == actions[0].default:
        return []
    if isinstance(actions[0], argparse._StoreConstAction):
        return [next(action.option_strings[0] for action in actions if action.const == value)]
    if isinstance(actions[0], argparse.BooleanOptionalAction):
        return [next(flag for flag in actions[0].option_strings if flag.startswith("--no-") != value)]
    return [actions[0].option_strings[0], str(value)]


def _is_switch(action: argparse.Action) -> bool:
    return isinstance(action, argparse.BooleanOptionalAction | argparse._StoreTrueAction)


def _values_of(actions: list[argparse.Action]) -> list[str]:
    if _is_switch(actions[0]):
        return ["yes", "no"]
    return sorted(map(str, actions[0].choices or [action.const for action in actions]))


def _actions_of(name: str) -> list[argparse.Action]:
    """Return the flags of `tfw2v train` that set an argument; raise CommandError if there is none."""
    found = [action for action in _parser()._actions if action.dest == name and action.option_strings]
    if not found:
        raise CommandError(f"{name!r} is not a setting of `tfw2v train`")
    return found


@functools.cache
def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    train_arguments.add_arguments(parser)
    return parser
