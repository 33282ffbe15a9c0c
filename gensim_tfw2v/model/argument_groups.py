"""Groups of own arguments, each passed as one value: classes made from the table of arguments, and their fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields, make_dataclass, replace
from typing import Any

from gensim_tfw2v.arguments.argument import CHECKPOINT_FLAGS, CLUSTER_FLAGS, MEMORY_FLAGS, Argument
from gensim_tfw2v.arguments.texts import docstring_entries
from gensim_tfw2v.model.own_arguments import OWN_ARGUMENTS
from gensim_tfw2v.model.validation_arguments import VALIDATION_ARGUMENTS


def _with_flags(group: str) -> tuple[Argument, ...]:
    return tuple(argument for argument in OWN_ARGUMENTS if argument.flag is not None and argument.flag.group == group)


# The argument that takes a group → the arguments that are the group's fields. The first may be given by position.
MEMBERS: Mapping[str, tuple[Argument, ...]] = {
    "checkpoints": _with_flags(CHECKPOINT_FLAGS),
    "validation": VALIDATION_ARGUMENTS,
    "cache": tuple(argument for argument in _with_flags(MEMORY_FLAGS) if argument.name.startswith("cache_")),
    "cluster": _with_flags(CLUSTER_FLAGS),
}


def field_of(name: str) -> str:
    """Return the name of an argument's field: the argument's without what the group's name says."""
    for prefix in ("checkpoint_", "cache_", "validation_", "cluster_"):
        name = name.removeprefix(prefix)
    return name.removesuffix("_checkpoints")


def _group_class(taken_as: str) -> Any:
    members = [replace(argument, name=field_of(argument.name)) for argument in MEMBERS[taken_as]]
    entries = [
        (argument.name, Any, field(default=argument.default, kw_only=number > 0))
        for number, argument in enumerate(members)
    ]
    summary = f"Arguments of the constructor in one value, which it takes as `{taken_as}=`."
    text = f"{summary}\n\nParameters\n----------\n{docstring_entries(members)}\n"
    own = {"__doc__": text, "__module__": __name__, "__repr__": _shown}
    return make_dataclass(taken_as.capitalize(), entries, frozen=True, repr=False, namespace=own)


def _shown(group: Any) -> str:
    """Return a group as text, with the fields that are not left at their defaults."""
    values = [(one, getattr(group, one.name)) for one in fields(group)]
    given = [f"{one.name}={value!r}" for one, value in values if _is_given(value, one.default)]
    return f"{type(group).__name__}({', '.join(given)})"


def _is_given(value: Any, default: Any) -> bool:
    return value is not None and (default is None or bool(value != default))


Checkpoints = _group_class("checkpoints")
Validation = _group_class("validation")
Cache = _group_class("cache")
Cluster = _group_class("cluster")


def without_groups(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a constructor with the fields of each group in place of the group.

    Raise TypeError that names a group and an argument that is one of its fields if both are given.
    """
    found = dict(arguments)
    for taken_as, kind in zip(MEMBERS, (Checkpoints, Validation, Cache, Cluster), strict=True):
        group = found[taken_as]
        if not isinstance(group, kind):
            continue
        found[taken_as] = None
        for argument in MEMBERS[taken_as]:
            name, own = field_of(argument.name), found[argument.name]
            if _is_given(own, argument.default):
                raise TypeError(
                    f"{argument.name}={own!r} and {taken_as}={group!r} are both given; write {name}={own!r} in "
                    f"{kind.__name__}(...)"
                )
            found[argument.name] = getattr(group, name)
    return found
