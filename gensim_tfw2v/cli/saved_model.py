"""`tfw2v train --from MODEL`: a saved model, which is trained further with its own vocabulary."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gensim_tfw2v.cli.errors import CommandError

# Settings that a saved model has already: those of its vectors, of what it predicts and of its vocabulary.
OF_MODEL = frozenset(
    ("vector_size", "sg", "window", "shrink_windows", "negative", "ns_exponent", "hs", "cbow_mean", "min_count")
) | {"max_vocab_size", "max_final_vocab", "sample", "sorted_vocab", "null_word"}


def check_flags(arguments: argparse.Namespace) -> None:
    """Raise an error if --from, or its absence, does not go with the other flags."""
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


def opened_model(path: Path, settings: Mapping[str, Any], defaults: Mapping[str, Any]) -> Any:
    """Return the model in a file with these settings, apart from those that it has already.

    Raise CommandError if the file holds no whole model, or if a setting that is not its default differs from what the
    model has.
    """
    from gensim_tfw2v import TFWord2Vec
    from gensim_tfw2v.model.arguments import is_left_open

    try:
        model = TFWord2Vec.load(str(path))
    except Exception as error:  # unpickling a file that is no model can raise anything
        reason = " ".join(str(error).split()) or type(error).__name__
        raise CommandError(f"--from {str(path)!r} is no model that can be trained: {reason}") from error
    for name, value in settings.items():
        if is_left_open(name, value):
            continue  # the model goes on as it was trained
        if name not in OF_MODEL:
            setattr(model, name, value)
        elif value != defaults[name] and value != getattr(model, name):
            flag = f"--{name.replace('_', '-')}"
            raise CommandError(
                f"{flag} {value} does not go with --from {str(path)!r}, whose model has {getattr(model, name)}; leave "
                f"{flag} out"
            )
    return model


def count_corpus(model: Any, corpus: Mapping[str, Any]) -> tuple[int, int]:
    """Return the raw words and the sentences of a corpus, whose words do not change the model's vocabulary."""
    words, sentences = model.scan_vocab(**corpus)
    model.raw_vocab = defaultdict(int)  # as after build_vocab
    return words, sentences
