"""Draws how the learning rate falls by each schedule: `python benchmarks/schedules.py docs/images/schedules.png`."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from report import pictures

_WORKERS = (4, 2)  # beside one, with which both schedules are the same
_POINTS = 200  # of each epoch


def main(argv: list[str] | None = None) -> int:
    """Draw the picture; the exit status is 0."""
    parser = argparse.ArgumentParser(description="Draw the learning rate over one and over five epochs.")
    parser.add_argument("picture", type=Path, metavar="PNG", help="file to write")
    arguments = parser.parse_args(argv)
    lines = {
        epochs: {
            **{f"default, from a file, workers={workers}": rates(epochs, None, workers) for workers in _WORKERS},
            'schedule="linear", from sentences, or workers=1': rates(epochs, "linear", 1),
        }
        for epochs in (1, 5)
    }
    pictures.draw_schedules(lines, arguments.picture)
    return 0


def rates(epochs: int, schedule: str | None, workers: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points in time, in epochs, and the learning rate that a model trained from a file has at each."""
    from gensim_tfw2v import TFWord2Vec
    from gensim_tfw2v.model.training_plan import fall_within_epoch

    model = TFWord2Vec(epochs=epochs, schedule=schedule, workers=workers)
    fall = fall_within_epoch(model, from_file=True, end_is_chosen=False)
    fractions = np.linspace(0.0, 1.0, _POINTS)
    times = [epoch + fractions for epoch in range(epochs)]
    found = [model._get_next_alpha(fall * fraction, epoch) for epoch in range(epochs) for fraction in fractions]
    return np.concatenate(times), np.array(found)


if __name__ == "__main__":
    raise SystemExit(main())
