"""Files of a search's results, damaged anywhere."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

from fuzzing.target import Edit, Target, assert_one_line, damaged, edits
from gensim_tfw2v.search.results import ResultsFile, Trial

_SEARCH = {"metric": "hits@10", "seed": 1, "corpus": "ab" * 32}
_TRIALS = [Trial({"window": window, "optimizer": "sgd"}, 3, 0.25, 1.5) for window in range(4)]


def check_results(changes: list[Edit]) -> None:
    """A damaged file is refused in one line with its name, or has trainings with numbers, and can be added to."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "results")
        file = ResultsFile(path, _SEARCH)
        for trial in _TRIALS:
            file.add(trial)
        path.write_bytes(damaged(path.read_bytes(), changes))
        try:
            found = ResultsFile(path, _SEARCH)
        except ValueError as error:
            assert_one_line(str(error), path)
            return
        known = [found.find(trial.settings, trial.epochs) for trial in _TRIALS]
        assert all(trial is None or trial.value is None or math.isfinite(trial.value) for trial in known)
        new = Trial({"window": 9}, 1, None, 0.5)
        found.add(new)
        assert ResultsFile(path, _SEARCH).find(new.settings, 1) == new


RESULTS = Target(edits, check_results)
