"""The pages that newcomers read: all that they show works, and their sentences are short."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest
from mkdocs.config import load_config
from mkdocs.structure.files import get_files
from support.clone import in_a_clone
from support.pages import ROOT, blocks, commands_not_run, printed_by, sentences, shape, words

from gensim_tfw2v.cluster.health import answers

README = ROOT / "README.md"
DOCS = ROOT / "docs"
RUN = [README, *sorted(page for folder in ("start", "tutorials") for page in (DOCS / folder).glob("*.md"))]
PLAIN = [
    *RUN,
    *sorted(page for folder in ("how-to", "help", "how-it-works") for page in (DOCS / folder).glob("*.md")),
    DOCS / "reference" / "errors.md",
]
LONGEST_SENTENCE = 30
# Words that a page may have beside its code, so that it can be read at one sitting.
MOST_WORDS = {
    "start/install.md": 200,
    "start/first-vectors.md": 400,
    "start/from-gensim.md": 700,
    "start/other-programs.md": 300,
    "tutorials/items.md": 800,
    "tutorials/graphs.md": 800,
    "tutorials/node2vec.md": 700,
    "tutorials/first-cluster.md": 500,
    "tutorials/misspelt-search.md": 450,
    "tutorials/classify-documents.md": 450,
    "how-to/corpora.md": 600,
    "how-to/encode.md": 450,
    "how-to/document-vectors.md": 500,
    "how-to/weights.md": 400,
    "how-to/subwords.md": 500,
    "how-to/tune.md": 900,
    "how-to/search-settings.md": 500,
    "how-to/reproduce.md": 300,
    "how-to/resume.md": 600,
    "how-to/continue.md": 400,
    "how-to/evaluate.md": 450,
    "how-to/stop.md": 800,
    "how-to/tensorboard.md": 700,
    "how-to/choose-a-distribution.md": 600,
    "how-to/deploy.md": 800,
    "how-to/machines.md": 800,
    "how-to/gpu.md": 450,
    "how-to/changing-workers.md": 450,
    "how-to/plan.md": 500,
    "how-to/encrypt.md": 500,
    "how-to/slurm.md": 450,
    "how-to/kubernetes.md": 500,
    "how-to/docker.md": 400,
    "how-to/ray.md": 400,
    "how-to/merge.md": 400,
    "how-to/tables.md": 400,
    "how-to/vocabularies-larger-than-memory.md": 500,
    "how-to/other-libraries.md": 500,
    "help/faq.md": 900,
    "help/troubleshooting.md": 700,
    "help/cluster-hangs.md": 550,
    "reference/errors.md": 1850,
    "how-it-works/pipeline.md": 1800,
    "how-it-works/gpu.md": 900,
    "how-it-works/learning-rate.md": 450,
    "how-it-works/distributions.md": 2700,
    "how-it-works/concurrency.md": 900,
    "how-it-works/lost-tasks.md": 800,
    "how-it-works/merging.md": 700,
    "how-it-works/planning.md": 1500,
    "how-it-works/scale.md": 900,
    "how-it-works/security.md": 700,
}
SITE_PAGES = sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def is_installed(package: str) -> bool:
    """Return whether there is a package of this name, not only a module, such as a benchmark's."""
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], str]:
    """Return a function that runs a page once, and returns what its code and commands print."""
    known: dict[Path, str] = {}

    def run(page: Path) -> str:
        for package in re.findall(r"^pip install --no-deps (\w+)==", page.read_text(encoding="utf8"), re.MULTILINE):
            if not is_installed(package):
                pytest.skip(f"needs the package {package}, which scripts/test --all installs")
        if page not in known:
            known[page] = printed_by(page, tmp_path_factory.mktemp("page"))
        return known[page]

    return run


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_all_code_and_commands_of_a_page_work(page: Path, printed: Callable[[Path], str]) -> None:
    printed(page)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in RUN if page != README], ids=name_of)
def test_a_page_shows_what_its_commands_print(page: Path, printed: Callable[[Path], str]) -> None:
    shown = [line for block in blocks(page) if block.language == "text" for line in shape(block.text)]
    found = shape(printed(page)) if shown else []
    assert [line for line in shown if line not in found] == []


@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_commands_that_install_name_what_is_there(page: Path) -> None:
    extras = (ROOT / "pyproject.toml").read_text(encoding="utf8").partition("[project.optional-dependencies]")[2]
    for command in commands_not_run(page):
        for file in re.findall(r"(?:scripts|examples|cluster)/[\w./-]+", command):
            assert (ROOT / file).is_file(), command
        for extra in re.findall(r"\.\[(\w+)\]", command):
            assert f"\n{extra} = [" in extras, command


@pytest.mark.slow
def test_the_first_example_of_the_readme_finds_words_of_one_kind(printed: Callable[[Path], str]) -> None:
    assert "poetry" in printed(README)


def test_the_first_code_of_the_readme_stands_within_its_first_45_lines() -> None:
    lines = README.read_text(encoding="utf8").splitlines()
    assert lines.index("```", lines.index("```python")) < 45


def test_the_readme_has_at_most_450_words_before_its_details() -> None:
    text = README.read_text(encoding="utf8").partition("\n## Command line")[0]
    assert len(re.sub(r"```.*?```", "", text, flags=re.DOTALL).split()) <= 450


def test_the_readme_has_at_most_600_words_in_all() -> None:
    assert len(README.read_text(encoding="utf8").split()) <= 600


MODES = {
    "skip-gram, negative sampling": "sg-neg",
    "CBOW, negative sampling": "cbow-neg",
    "skip-gram, hierarchical softmax": "sg-hs",
    "CBOW, hierarchical softmax": "cbow-hs",
}


def measured(mode: str) -> list[str]:
    """Return the cells of the README's table for a mode, from the results of five epochs."""
    name = "five_epochs" if mode.endswith("hs") else "five_epochs_negative"
    ours, gensims = (
        next(run for run in result(name)["runs"] if run["mode"] == mode and run["system"] == system)
        for system in ("tfw2v", "gensim")
    )
    return [
        f"{ours['words_per_second'] / gensims['words_per_second']:.1f} times",
        f"{ours['scores']['mean']:.1f} / {gensims['scores']['mean']:.1f}",
        f"{ours['peak_rss_bytes'] / 1e6:.0f} / {gensims['peak_rss_bytes'] / 1e6:.0f} MB",
    ]


@pytest.mark.parametrize("mode", MODES)
def test_the_readmes_table_is_that_of_a_committed_result(mode: str) -> None:
    row = re.search(rf"^\| {mode} \| (.*) \|$", README.read_text(encoding="utf8"), re.MULTILINE)
    assert row is not None
    assert row[1].split(" | ") == measured(MODES[mode])


def result(name: str) -> Any:
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text(encoding="utf8"))


def test_the_readmes_machines_are_those_of_a_committed_result() -> None:
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", README.read_text(encoding="utf8"), re.MULTILINE)
    shown = {int(workers): cells.split(" | ") for workers, cells in rows}
    assert shown == {
        row["workers"]: [
            f"{row['words_per_second']:,.0f}",
            f"{row['speed_up']:.1f}",
            f"{row['scores']['mean']['mean']:.1f}",
        ]
        for row in result("nodes_avx2")["rows"]
    }


def test_the_readmes_first_figures_are_those_of_its_picture() -> None:
    sooner = re.findall(r"\b(\d+) times(?=\s+sooner|\s+with CBOW)", README.read_text(encoding="utf8"))
    ours = [one for one in result("time_to_score")["results"] if one["system"] == "tfw2v"]
    assert [one["mode"] for one in ours] == ["sg-neg", "cbow-neg"]
    assert sooner == [f"{one['ratio']['middle']:.0f}" for one in ours]


def test_a_page_of_the_table_is_there() -> None:
    assert set(MOST_WORDS) - set(SITE_PAGES) == set()


@pytest.mark.parametrize("name", MOST_WORDS)
def test_a_page_has_no_more_words_than_it_may(name: str) -> None:
    assert words(DOCS / name) <= MOST_WORDS[name]


@pytest.mark.parametrize("page", PLAIN, ids=name_of)
def test_no_sentence_is_long(page: Path) -> None:
    assert [sentence for sentence in sentences(page) if len(sentence.split()) > LONGEST_SENTENCE] == []


@pytest.mark.parametrize("entrance", ["README.md", "../mkdocs.yml"])
def test_every_page_is_in_the_entrance_and_in_the_sites_menu(entrance: str) -> None:
    text = (DOCS / entrance).read_text(encoding="utf8")
    assert [page for page in SITE_PAGES if page != "README.md" and page not in text] == []


@in_a_clone
def test_a_rule_says_how_the_site_shows_each_file_that_pages_link_to() -> None:
    config = load_config(str(ROOT / "mkdocs.yml"))
    shown = {file.src_uri for file in config.plugins.on_files(get_files(config), config=config)}
    assert "repository/examples/preempted.sbatch.md" in shown


def figures(text: str, names: list[str]) -> dict[str, list[float]]:
    """Return the numbers that end the lines of an output which begin with these names."""
    rows = re.findall(rf"^({'|'.join(map(re.escape, names))})((?: +[\d.]+)+)$", text, re.MULTILINE)
    return {name: [float(number) for number in numbers.split()] for name, numbers in rows}


CLASSES = ["Word2Vec", "TFWord2Vec"]
# How much labels, groups and links of a run may differ from another's. k-means finds 0.84 to 0.91 with either class.
SPREADS = [0.02, 0.1, 0.02]


@pytest.mark.slow
def test_vectors_of_nodes_know_as_much_as_gensims_and_as_the_page_shows(printed: Callable[[Path], str]) -> None:
    page = DOCS / "tutorials" / "graphs.md"
    shown, found = figures(page.read_text(encoding="utf8"), CLASSES), figures(printed(page), CLASSES)
    for column, spread in enumerate(SPREADS, start=1):  # the first column has seconds
        for name in CLASSES:
            assert found[name][column] == pytest.approx(shown[name][column], abs=spread)
        assert found["TFWord2Vec"][column] == pytest.approx(found["Word2Vec"][column], abs=spread)
    assert min(found["TFWord2Vec"][1:]) > 0.8


@pytest.mark.slow
def test_predicted_films_are_better_than_popular_and_near_ones_and_as_good_as_gensims(
    printed: Callable[[Path], str],
) -> None:
    page = DOCS / "tutorials" / "items.md"
    names = ["the most popular films", "TFWord2Vec, nearest vectors", *(f"{name}, predicted films" for name in CLASSES)]
    shown, found = figures(page.read_text(encoding="utf8"), names), figures(printed(page), names)
    for name in names:
        assert found[name] == pytest.approx(shown[name], abs=0.03)
    popular, near, gensims, ours = (found[name] for name in names)
    assert ours == pytest.approx(gensims, abs=0.03)
    assert ours[0] > 2 * max(popular[0], near[0])


MORE = DOCS / "tutorials" / "more-examples.md"


@pytest.mark.slow
def test_vectors_of_kmers_find_better_neighbours_than_their_counts_as_the_page_shows(
    printed: Callable[[Path], str],
) -> None:
    names = ["counts of amino acids", "counts of 3-mers", "vectors of 3-mers"]
    shown, found = figures(MORE.read_text(encoding="utf8"), names), figures(printed(MORE), names)
    for name in names:
        assert found[name] == pytest.approx(shown[name], abs=0.04)
    counts, vectors = found["counts of 3-mers"], found["vectors of 3-mers"]
    assert vectors[0] > counts[0] and vectors[1] > counts[1]  # nearest sequences, of few labels and of many
    assert vectors[3] < counts[3]  # a classifier that learns from many labels


@pytest.mark.slow
def test_more_words_are_found_again_in_another_period_if_output_vectors_are_frozen(
    printed: Callable[[Path], str],
) -> None:
    names = ["models trained apart", "common outputs that move", "common outputs that are frozen"]
    shown, found = figures(MORE.read_text(encoding="utf8"), names), figures(printed(MORE), names)
    (apart,), (moving,), (frozen,) = (found[name] for name in names)
    for name in names:
        assert found[name] == pytest.approx(shown[name], abs=0.05)
    assert apart < 0.05 < moving < frozen
    output = printed(MORE)
    ((own, across),) = re.findall(r"^mean cosine .*: ([\d.]+) in halves .*, ([\d.]+) across$", output, re.MULTILINE)
    assert float(own) > float(across) + 0.1
    changed = output.partition("words that have changed most")[2]
    assert {"want", "communications"} & set(re.findall(r"^(\w+) ", changed, re.MULTILINE))


@pytest.mark.slow
def test_a_model_of_gensim_that_is_trained_further_matches_more_halves_and_is_gensims(
    printed: Callable[[Path], str],
) -> None:
    models = re.findall(r"^(before|after): Word2Vec of (\d+) words, (\d+)% of", printed(MORE), re.MULTILINE)
    (before, few, low), (after, many, high) = models
    assert (before, after) == ("before", "after")
    assert int(many) > int(few)
    assert int(high) > int(low) + 8


@pytest.mark.slow
def test_vectors_find_misspelt_words_as_the_page_shows_and_spelling_ranks_them_better(
    printed: Callable[[Path], str],
) -> None:
    page = DOCS / "tutorials" / "misspelt-search.md"
    names = ["difflib", "FastText", "TFFastText", "TFFastText, then difflib"]
    shown, found = figures(page.read_text(encoding="utf8"), names), figures(printed(page), names)  # of two mistakes
    for name in names:
        assert found[name][:2] == pytest.approx(shown[name][:2], abs=0.08)
    assert found["difflib"][0] > found["TFFastText, then difflib"][0] > found["TFFastText"][0]


@pytest.mark.slow
def test_posts_are_classified_as_the_page_shows_and_as_by_gensims_vectors(printed: Callable[[Path], str]) -> None:
    page = DOCS / "tutorials" / "classify-documents.md"
    names = ["TF-IDF of words", "TFWord2Vec, mean of words", "Doc2Vec, dm=0", "TFDoc2Vec, dm=0", "TFDoc2Vec, dm=1"]
    shown, found = figures(page.read_text(encoding="utf8"), names), figures(printed(page), names)
    for name in names:
        assert found[name][:2] == pytest.approx(shown[name][:2], abs=0.06)
    assert found["TFDoc2Vec, dm=0"][:2] == pytest.approx(found["Doc2Vec, dm=0"][:2], abs=0.06)


@pytest.mark.slow
def test_the_workers_that_an_example_starts_train_all_blocks_and_end_with_it(printed: Callable[[Path], str]) -> None:
    output = printed(MORE)
    blocks_of = re.findall(r"^worker [01]: (\d+) of (\d+) blocks, about (\d+) words/s$", output, re.MULTILINE)
    assert len(blocks_of) == 2
    assert {sum(int(own) for own, _, _ in blocks_of)} == {int(every) for _, every, _ in blocks_of}
    assert all(int(own) for own, _, _ in blocks_of)
    addresses = re.findall(r"^tfw2v server: \w+ \d of (\S+) is ready", output, re.MULTILINE)
    assert len(addresses) == 3
    assert [address for address in addresses if answers(address)] == []


@pytest.mark.slow
def test_a_search_logs_synonyms_are_found(printed: Callable[[Path], str]) -> None:
    ((found, true),) = re.findall(r"pairs proposed, (\d+) of the (\d+) true ones", printed(MORE))
    assert int(found) > 0.9 * int(true)


@pytest.mark.slow
def test_new_items_find_their_kind_among_the_vectors_of_the_day_before_unless_the_model_is_new(
    printed: Callable[[Path], str],
) -> None:
    found = figures(printed(MORE), ["a new model", "continued", "frozen outputs"])
    assert found["a new model"][0] < 0.6 and found["a new model"][1] < 0.2
    for way in ("continued", "frozen outputs"):
        assert found[way][0] > 0.95 and found[way][1] > 0.9


@pytest.mark.slow
def test_hidden_citations_are_nearer_than_random_papers(printed: Callable[[Path], str]) -> None:
    (nearer,) = re.findall(r"nearer than a random paper: ([\d.]+)$", printed(MORE), re.MULTILINE)
    assert float(nearer) > 0.85


@pytest.mark.slow
def test_both_classes_show_the_same_in_gensims_tutorial_and_a_stopped_training_ends_with_equal_vectors(
    printed: Callable[[Path], str],
) -> None:
    output = printed(MORE)
    names = "numbers of a vector|words after load|words with min_count=10|sections of analogies|loss above 0"
    shown = re.findall(rf"^(?:{names}) +(\S+) +(\S+)$", output, re.MULTILINE)
    assert [ours for _, ours in shown] == [gensims for gensims, _ in shown]
    assert len(shown) == 5
    assert "equal vectors: True" in output


def imports_in_pages() -> list[str]:
    """Return what the pages import of the package, also in commands that no test runs."""
    text = "\n".join(page.read_text(encoding="utf8") for page in [ROOT / "README.md", *DOCS.rglob("*.md")])
    return sorted(set(re.findall(r"from gensim_tfw2v[\w.]* import \w+(?:, \w+)*", text)))


@pytest.mark.parametrize("statement", imports_in_pages())
def test_what_a_page_imports_is_there(statement: str) -> None:
    exec(statement, {})
