"""The arguments of TFWord2Vec, gensim's and its own: rules, defaults, when training reads them, the docstring."""

from __future__ import annotations

import inspect
import re
import textwrap
import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from gensim_tfw2v.arguments.rules import Number, Rule, WholeNumber
from gensim_tfw2v.arguments.texts import docstring_entries, docstring_entry
from gensim_tfw2v.model.argument_groups import without_groups
from gensim_tfw2v.model.own_arguments import OWN_ARGUMENTS
from gensim_tfw2v.model.results import RESULTS
from gensim_tfw2v.runtime.cores import ALL_CORES, CoreCount

MOST_WINDOW = 2**31 - 1  # an int32
MOST_SEED = 2**32 - 1  # the largest seed that NumPy takes

# gensim's arguments that it does not check itself.
_GENSIM_RULES: dict[str, Rule] = {
    "vector_size": WholeNumber(1, converts=True),
    "window": WholeNumber(1, most=MOST_WINDOW, converts=True),
    "workers": CoreCount(converts=True),
    "negative": WholeNumber(0, converts=True),
    "alpha": Number(0, converts=True),
    "min_alpha": Number(0, converts=True),
    "start_alpha": Number(0, or_none=True),
    "end_alpha": Number(0, or_none=True),
    "sample": Number(0, note=" (0 keeps every word)", or_none=True),
    "ns_exponent": Number(converts=True),
    "min_count": Number(or_none=True),
    "batch_words": WholeNumber(1),
    "max_vocab_size": WholeNumber(0, or_none=True),  # 0 sets no limit either, as in gensim
    "max_final_vocab": WholeNumber(1, or_none=True),
    "epochs": WholeNumber(1, or_none=True),
    "seed": WholeNumber(0, most=MOST_SEED, or_none=True),
    "min_n": WholeNumber(0, converts=True),
    "max_n": WholeNumber(0, converts=True),
    "bucket": WholeNumber(-1, note=" (-1 chooses it by the words' n-grams)", converts=True),
    "dm_tag_count": WholeNumber(0, converts=True),
}
_RULES = _GENSIM_RULES | {argument.name: argument.rule for argument in OWN_ARGUMENTS if argument.rule is not None}

# The arguments that train() reads from a model and checks; a user may have changed them since the model was made.
TRAINING_ARGUMENTS = (
    *("vector_size", "window", "workers", "negative", "alpha", "min_alpha", "batch_words", "seed"),
    *(argument.name for argument in OWN_ARGUMENTS if argument.rule is not None),
)
# The arguments that train() reads once, at its beginning. It reads learning rates again in every epoch.
FIXED_IN_TRAINING = (
    *("sg", "hs", "negative", "window", "shrink_windows", "cbow_mean", "sample", "workers", "batch_words"),
    *(argument.name for argument in OWN_ARGUMENTS if argument.is_fixed_in_training),
)


def default_of(name: str) -> Any:
    """Return the default of one of the own arguments."""
    return next(argument.default for argument in OWN_ARGUMENTS if argument.name == name)


def rule_of(name: str) -> Any:
    """Return the rule of an argument that has one."""
    return _RULES[name]


def own_defaults() -> dict[str, Any]:
    """Return the defaults of own arguments, which models that were saved without these arguments have."""
    return {argument.name: argument.default for argument in OWN_ARGUMENTS}


def core_count(workers: Any, cluster: Any) -> int:
    """Return `workers` as a number of cores: -1 stands for all.

    On a cluster that is at least 2, also for a coordinator with one core: 1 would train one block at a time.
    """
    found: int = rule_of("workers").plain("workers", workers)
    return max(2, found) if cluster is not None and workers == ALL_CORES else found


def is_left_open(name: str, value: Any) -> bool:
    """Return whether an argument's value leaves the choice to training, or to what a model was trained with before."""
    return name == "optimizer" and value is None


def own_and_gensims(variables: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the class's own arguments among the local variables of its constructor, and gensim's arguments.

    Raise ValueError or TypeError if `weights` are not numbers, one for each sentence. They become an array.
    """
    from gensim_tfw2v.corpus.sentence_weights import sentence_weights  # NumPy, which `tfw2v --help` need not load

    arguments = {name: value for name, value in variables.items() if name not in ("self", "__class__")}
    names = {argument.name for argument in OWN_ARGUMENTS}
    own = {name: value for name, value in arguments.items() if name in names}
    own["weights"] = sentence_weights(own["weights"])
    return own, {name: value for name, value in arguments.items() if name not in names}


def signature_with_own(gensims_class: type[Any], of_others: Collection[str] = ()) -> inspect.Signature:
    """Return the signature of one of gensim's constructors with further arguments behind it, each by name alone.

    These are the own arguments, and those of Word2Vec if gensim's constructor passes any others on to it.

    Parameters
    ----------
    of_others : collection of str, optional
        Arguments of Word2Vec that gensim's constructor sets itself.
    """
    signature = inspect.signature(gensims_class.__init__)
    parameters = list(signature.parameters.values())
    more = {argument.name: argument.default for argument in OWN_ARGUMENTS}
    if parameters[-1].kind is inspect.Parameter.VAR_KEYWORD:
        del parameters[-1]
        base: Any = gensims_class.__mro__[1]
        passed_on = inspect.signature(base.__init__).parameters
        names = passed_on.keys() - {"self", *signature.parameters, *of_others}
        more = {name: each.default for name, each in passed_on.items() if name in names} | more
    kind = inspect.Parameter.KEYWORD_ONLY
    further = [inspect.Parameter(name, kind, default=default) for name, default in more.items()]
    return signature.replace(parameters=[*parameters, *further])


def all_arguments(
    class_name: str, signature: inspect.Signature, given: Sequence[Any], named: Mapping[str, Any]
) -> dict[str, Any]:
    """Return all arguments of a constructor by name, those that are not given with their defaults, without groups.

    Raise TypeError, which names the class, if there is no such argument, or one is given twice.
    """
    try:
        bound = signature.bind(None, *given, **named)
    except TypeError as error:
        raise TypeError(f"{class_name}() {error}") from None
    bound.apply_defaults()
    return without_groups({name: value for name, value in bound.arguments.items() if name != "self"})


def warn_of_deprecated(arguments: Mapping[str, Any], stacklevel: int) -> None:
    """Warn of each own argument that is set and deprecated."""
    for argument in OWN_ARGUMENTS:
        if argument.deprecated is not None and arguments[argument.name] != argument.default:
            text = f"{argument.name} is deprecated: {argument.deprecated}"
            warnings.warn(text, DeprecationWarning, stacklevel=stacklevel + 1)


def plain_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that have a rule, as plain Python objects.

    Raise ValueError or TypeError that names the first argument that cannot be used, and its value.
    """
    return {name: _RULES[name].plain(name, value) for name, value in arguments.items() if name in _RULES}


def with_tables(docstring: str | None) -> str:
    """Return a docstring with each place such as ``{own_arguments}`` filled by its table, indented as the place is."""
    tables = {
        "own_arguments": docstring_entries(OWN_ARGUMENTS),
        "results": "\n".join(docstring_entry(result.name, result.type, result.help) for result in RESULTS),
    }
    place = rf"^( *)\{{({'|'.join(tables)})\}}$"
    return re.sub(place, lambda found: textwrap.indent(tables[found[2]], found[1]), docstring or "", flags=re.MULTILINE)
