"""The commands in benchmarks/ measure and save what they promise."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import allocators
import psutil
import pytest
import sweep
from gensim.models import Word2Vec
from measuring import checkout, systems
from measuring.jobs import MODES, OPTIMIZERS, Job, usable_cores
from support.benchmark_commands import BENCHMARKS, commit_in, corpus_in, run_command


def runs_below(pid: int) -> list[psutil.Process]:
    """Return the measurements that a process has started; others of its children may end at any moment."""
    runs = []
    for child in psutil.Process(pid).children():
        with contextlib.suppress(psutil.Error):
            runs += [child] * ("one_run.py" in " ".join(child.cmdline()))
    return runs


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the comparison once on a tiny corpus and return the folder of its results."""
    folder = tmp_path_factory.mktemp("comparison")
    small = ("--epochs", 1, "--vector-size", 10, "--modes", "sg-neg", "--repeats", 2, "--workers", 1, "--curves")
    done = run_command("compare.py", corpus_in(folder), "--output", folder / "results", "--name", "tiny", *small)
    assert done.returncode == 0, done.stderr
    return folder / "results"


@pytest.fixture
def results(comparison: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((comparison / "tiny.json").read_text())
    return loaded


@pytest.mark.slow
def test_compare_saves_a_row_with_every_figure_for_each_system(results: dict[str, Any]) -> None:
    assert [row["label"]["system"] for row in results["rows"]] == ["tfw2v", "gensim"]
    for row in results["rows"]:
        figures = ("words_per_second", "speed_ratio", "build_vocab_seconds", "build_vocab_ratio", "peak_rss_bytes")
        assert all(set(row[figure]) == {"middle", "low", "high"} for figure in figures)
        assert set(row["scores"]) == {"wordsim353", "simlex999", "analogies", "mean"}
        assert (row["runs"], row["finite"]) == (2, True)


@pytest.mark.slow
def test_compare_tells_import_and_first_graph_of_tensorflow_apart(results: dict[str, Any]) -> None:
    ours, gensims = results["rows"]
    assert 0 < ours["tensorflow_import_seconds"]["low"] < ours["train_seconds"]["high"]
    assert gensims["tensorflow_import_seconds"] is None


@pytest.mark.slow
def test_compare_saves_what_measured(results: dict[str, Any]) -> None:
    assert set(results["machine"]) == {"cpu", "cores", "ram_bytes", "system", "load_before"}
    assert {"python", "tensorflow", "gensim", "numpy", "gensim-tfw2v", "commit"} <= set(results["versions"])
    assert results["command"].startswith("python benchmarks/compare.py ")
    assert results["corpus"]["name"] == "corpus.txt"


@pytest.mark.slow
def test_compare_lets_the_systems_take_turns_with_a_seed_a_round(results: dict[str, Any]) -> None:
    order = [(run["system"], run["round"], run["seed"]) for run in results["runs"]]
    assert order == [("tfw2v", 0, 1), ("gensim", 0, 1), ("gensim", 1, 2), ("tfw2v", 1, 2)]


@pytest.mark.slow
def test_compare_counts_every_word_of_the_corpus(results: dict[str, Any]) -> None:
    assert {run["raw_words"] for run in results["runs"]} == {1500}


@pytest.mark.slow
def test_compare_saves_a_curve_for_each_system(results: dict[str, Any]) -> None:
    assert [(curve["system"], len(curve["curve"])) for curve in results["curves"]] == [("tfw2v", 1), ("gensim", 1)]


@pytest.mark.slow
def test_compare_saves_a_page_to_read(comparison: Path) -> None:
    page = (comparison / "tiny.md").read_text()
    assert "| sg-neg | 10          | tfw2v  | 2    |" in page
    assert "- Command: `python benchmarks/compare.py " in page


@pytest.mark.slow
def test_compare_draws_speed_and_quality_over_time(comparison: Path) -> None:
    pytest.importorskip("matplotlib")
    for subject in ("speed", "quality_over_time"):
        assert (comparison / f"tiny-{subject}.png").read_bytes().startswith(b"\x89PNG")
        assert f"(tiny-{subject}.png)" in (comparison / "tiny.md").read_text()


@pytest.mark.slow
def test_compare_goes_on_after_a_failed_run_and_says_so(tmp_path: Path) -> None:
    corpus = corpus_in(tmp_path)
    command = ("--output", tmp_path, "--repeats", 2, "--modes", "sg-neg", "--systems", "gensim", "--min-count", 1000)
    done = run_command("compare.py", corpus, *command, "--workers", 1)
    failed = json.loads((tmp_path / "compare.json").read_text())["runs"]
    assert done.returncode == 1
    assert ["you must first build vocabulary" in run["error"] for run in failed] == [True, True]


@pytest.mark.slow
def test_compare_that_is_told_to_end_ends_its_run_too(tmp_path: Path) -> None:
    command = [sys.executable, str(BENCHMARKS / "compare.py"), str(corpus_in(tmp_path)), "--epochs", "1000000"]
    with subprocess.Popen([*command, "--output", str(tmp_path)], stderr=subprocess.PIPE, text=True) as comparing:
        while not (runs := runs_below(comparing.pid)):
            assert comparing.poll() is None
            time.sleep(0.1)
        comparing.terminate()
        _, said = comparing.communicate(timeout=60)
    assert comparing.returncode == 130, said
    assert "stopped" in said
    assert not any(run.is_running() for run in runs)


def test_compare_refuses_a_corpus_that_is_not_there(tmp_path: Path) -> None:
    done = run_command("compare.py", tmp_path / "absent.txt")
    assert done.returncode == 2
    assert "there is no file" in done.stderr


@pytest.mark.parametrize("option", [("--repeats", 0), ("--epochs", 0), ("--name", "folder/name")])
def test_compare_refuses_what_would_measure_or_save_nothing(tmp_path: Path, option: tuple[str, Any]) -> None:
    done = run_command("compare.py", corpus_in(tmp_path), *option, "--output", tmp_path / "results")
    assert done.returncode == 2
    assert f"argument {option[0]}: " in done.stderr
    assert not (tmp_path / "results").exists()


@pytest.mark.slow
def test_an_iterable_corpus_can_be_measured(tmp_path: Path) -> None:
    small = ("--input", "iterable", "--epochs", 1, "--vector-size", 10, "--workers", 1, "--no-scores")
    done = run_command("one_run.py", "gensim", corpus_in(tmp_path), *small)
    assert json.loads(done.stdout)["raw_words"] == 1500


@pytest.mark.slow
def test_sweep_saves_a_row_for_every_combination(tmp_path: Path) -> None:
    small = ("--epochs", 1, "--vector-size", 10, "--workers", 1, "--no-scores", "--output", tmp_path)
    done = run_command("sweep.py", corpus_in(tmp_path), *small, "--batch-tokens", "default", 64, "--update-bound", 5)
    rows = json.loads((tmp_path / "sweep.json").read_text())["rows"]
    assert done.returncode == 0, done.stderr
    assert [(row["label"]["batch_tokens"], row["label"]["update_bound"]) for row in rows] == [(None, 5.0), (64, 5.0)]


@pytest.mark.slow
def test_sweep_trains_with_the_package_as_a_commit_has_it(tmp_path: Path) -> None:
    here, repository = Path(checkout.ROOT), tmp_path / "repository"
    shutil.copytree(here / "benchmarks", repository / "benchmarks", ignore=shutil.ignore_patterns("results"))
    shutil.copytree(here / "gensim_tfw2v", repository / "gensim_tfw2v", ignore=shutil.ignore_patterns("__pycache__"))
    for name in (".gitignore", "setup.py", "pyproject.toml", "README.md", "LICENSE"):  # so that it is compiled
        shutil.copy(here / name, repository)
    module = repository / "gensim_tfw2v" / "word2vec.py"
    module.write_text(module.read_text() + "\nraise RuntimeError('an old bug')\n")
    commit_in(repository)
    shutil.copy(here / "gensim_tfw2v" / "word2vec.py", module)
    small = ("--epochs", 1, "--vector-size", 10, "--workers", 1, "--no-scores", "--output", tmp_path)
    command = [sys.executable, str(repository / "benchmarks" / "sweep.py"), corpus_in(tmp_path), *small]
    subprocess.run([*map(str, command), "--revision", "HEAD", "here"], check=False)
    runs = json.loads((tmp_path / "sweep.json").read_text())["runs"]
    assert [run["revision"] == "here" for run in runs] == [False, True]
    assert ["an old bug" in run.get("error", "") for run in runs] == [True, False]


def test_sweep_refuses_a_commit_that_there_is_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        sweep._parser().parse_args([str(corpus_in(tmp_path)), "--revision", "no-such-commit"])
    assert "'no-such-commit' is no commit of the repository in" in capsys.readouterr().err


def test_sweep_refuses_what_is_neither_number_nor_default(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        sweep._parser().parse_args([str(corpus_in(tmp_path)), "--batch-tokens", "many"])
    assert "invalid int or 'default' value: 'many'" in capsys.readouterr().err


@pytest.mark.slow
def test_small_jobs_reports_times_and_traces_of_every_kind_of_model(tmp_path: Path) -> None:
    done = run_command("small_jobs.py", "--repeats", 1, "--epochs", 1, "--workers", 1, "--output", tmp_path)
    rows = json.loads((tmp_path / "small_jobs.json").read_text())["rows"]
    assert done.returncode == 0, done.stderr
    assert [row["name"] for row in rows[:2]] == ["Lee corpus", "the same again"]
    assert (rows[0]["new_graphs"], rows[1]["new_graphs"]) == (1, 0)
    assert all(row["first"] > 0 and row["gensim_first"] > 0 for row in rows)
    # One graph for vocabularies whose negatives often hit their targets, one for the others, one for wide windows.
    assert sum(row["new_graphs"] for row in rows) <= 3, "a further small model was traced anew"


@pytest.mark.slow
def test_small_jobs_says_how_far_models_agree_where_there_are_several(tmp_path: Path) -> None:
    small = ("--modes", "sg-neg", "--repeats", 2, "--epochs", 1, "--workers", 1, "--output", tmp_path)
    done = run_command("small_jobs.py", *small)
    first = json.loads((tmp_path / "small_jobs.json").read_text())["rows"][0]
    assert done.returncode == 0, done.stderr
    assert all(0 < share < 1 for share in (*first["agreement"], *first["gensim_agreement"]))


@pytest.mark.slow
def test_lost_steps_tells_what_two_threads_keep(tmp_path: Path) -> None:
    small = ("--vector-size", 10, "--repeats", 1, "--modes", "cbow-neg", "sg-hs", "--output", tmp_path)
    done = run_command("lost_steps.py", corpus_in(tmp_path), *small)
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "lost_steps.json").read_text())["rows"]
    assert [row["mode"] for row in rows] == ["cbow-neg", "sg-hs"]
    assert all(0.3 < kept < 1.1 for row in rows for kept in row["kept"][0])


@pytest.mark.slow
def test_logging_cost_reports_rounds_with_and_without_a_log(tmp_path: Path) -> None:
    small = ("--repeats", 1, "--epochs", 1, "--workers", 1, "--output", tmp_path)
    done = run_command("logging_cost.py", corpus_in(tmp_path), *small)
    assert done.returncode == 0, done.stderr
    (only,) = json.loads((tmp_path / "logging_cost.json").read_text())["rounds"]
    assert only["cost"] == pytest.approx(100 * (only["with"] - only["without"]) / only["without"], abs=0.1)


@pytest.mark.slow
def test_profile_saves_nanoseconds_of_operations_and_of_host_functions(tmp_path: Path) -> None:
    small = ("--blocks", 1, "--vector-size", 10, "--output", tmp_path)
    done = run_command("profile_step.py", corpus_in(tmp_path), *small)
    assert done.returncode == 0, done.stderr
    profile = json.loads((tmp_path / "profile.json").read_text())["ns_per_token"]
    assert "Tfw2vTrainSkipGram" in profile["operations_by_type"]
    assert profile["host_functions"]["batches.subsample"] > 0


@pytest.mark.slow
@pytest.mark.skipif(usable_cores() < 2, reason="compares two cores")
def test_allocators_reports_both_and_the_way_between_the_cores(tmp_path: Path) -> None:
    small = ("--blocks", 1, "--rounds", 1, "--vector-size", 10, "--output", tmp_path)
    done = run_command("allocators.py", corpus_in(tmp_path), *small)
    assert done.returncode == 0, done.stderr
    (only,) = json.loads((tmp_path / "allocators.json").read_text())["rounds"]
    assert len(only) == 2
    assert all(measured["ns_per_token"] > 0 and measured["handover_ns"] > 0 for measured in only.values())


@pytest.mark.skipif(usable_cores() < 2, reason="two cores hand over to each other")
def test_allocators_does_not_wait_for_ever_for_the_other_core(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = multiprocessing.Process
    monkeypatch.setattr(allocators.multiprocessing, "Process", lambda target, args: silent(target=bool))
    monkeypatch.setattr(allocators, "_PATIENCE", 1)
    with pytest.raises(SystemExit, match="has not answered for 1 seconds"):
        allocators.handover_nanoseconds()


@pytest.mark.slow
def test_encoding_compares_ways_that_write_the_same_files(tmp_path: Path) -> None:
    done = run_command("encoding.py", corpus_in(tmp_path), "--rounds", 1, "--repeat", 2)
    assert done.returncode == 0, done.stderr
    assert [line.split(" s ")[0].rpartition(" ")[0].strip() for line in done.stdout.splitlines()[1:]] == [
        *("one process", "2 processes", "2 readers")
    ]


@pytest.mark.slow
def test_read_shards_tells_what_checksums_take(tmp_path: Path) -> None:
    done = run_command("read_shards.py", corpus_in(tmp_path), "--rounds", 1, "--modes", "sg-neg", "cbow-hs")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("of reading and making blocks") == 2


@pytest.mark.slow
def test_operations_tells_what_tokens_of_every_mode_and_optimizer_cost(tmp_path: Path) -> None:
    options = ["--rounds", 1, "--vector-size", 20, "--output", tmp_path]
    done = run_command("operations.py", corpus_in(tmp_path), *options)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("|")]
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    for mode in MODES:
        for optimizer in OPTIMIZERS:
            (cells,) = [cells for cells in table if cells[:2] == [mode, optimizer]]
            nanoseconds, flop, limit, _ = (float(cell.strip(" %")) for cell in cells[2:])
            assert nanoseconds > limit > 0 and flop > 0


@pytest.mark.parametrize("mode", MODES)
def test_a_job_survives_the_command_line(mode: str) -> None:
    import one_run
    from measuring.jobs import job_from

    tuning = (128, 24, None, 2.5)
    job = Job(
        "tfw2v",
        __file__,
        mode,
        20,
        3,
        2,
        "iterable",
        4,
        6,
        1,
        0.01,
        0.05,
        9,
        *tuning,
        "bfloat16",
        "float32",
        "linear",
        "adagrad",
        "gpu:1",
        "device",
        True,
        False,
        distribution="downpour",
        round_words=1000,
        graph="graph.npz",
        calls=3,
        own_rates=True,
    )
    assert job_from(one_run._parser().parse_args(job.to_arguments())) == job


@pytest.mark.slow
def test_memory_of_workers_that_average_stands_beside_the_formula(tmp_path: Path) -> None:
    small = ("--vocabulary", 2_000, "--words", 20_000, "--vector-sizes", 10, "--epochs", 1)
    done = run_command("averaging_memory.py", *small, "--output", tmp_path)
    assert done.returncode == 0, done.stderr
    (run,) = json.loads((tmp_path / "averaging_memory.json").read_text())["runs"]
    assert run["peak_bytes"] > run["idle_bytes"] > 0
    assert run["rows"] == 4_000
    assert run["formula_bytes"] == 4_000 * (8 * 10 + 4) + 24 * 2_000 * 10


@pytest.mark.parametrize(
    ("calls", "expected"), [(1, [(4, None, None)]), (2, [(2, 0.0251, 0.0126), (2, 0.0126, 0.0001)])]
)
def test_calls_of_train_divide_the_epochs_and_the_fall_of_the_rate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: int, expected: list[tuple[int, float | None, float | None]]
) -> None:
    given: list[tuple[int, float | None, float | None]] = []

    def train(model: Word2Vec, epochs: int, start_alpha: Any = None, end_alpha: Any = None, **_: Any) -> None:
        given.append((epochs, start_alpha, end_alpha and round(end_alpha, 9)))

    monkeypatch.setattr(Word2Vec, "train", train)
    systems.SYSTEMS["gensim"].run(Job("gensim", str(corpus_in(tmp_path)), epochs=4, alpha=0.0251, calls=calls))
    assert given == expected
