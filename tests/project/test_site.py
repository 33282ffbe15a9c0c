"""`scripts/docs` builds the site from the pages of the repository, without a warning and without other sites."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.clone import copy_of_clone, in_a_clone

pytestmark = [pytest.mark.slow, in_a_clone]
ELSEWHERE = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=["']?(?:https?:)?//""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site, built from a copy of the files that it is made of."""
    copy = copy_of_clone(tmp_path_factory.mktemp("clone"))
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict"], cwd=copy, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return copy / "site"


def test_the_site_fetches_nothing_from_other_sites(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert pages
    assert [page.name for page in pages if ELSEWHERE.search(page.read_text(encoding="utf8"))] == []


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        ("index", "start/first-vectors.html"),
        ("repository/CONTRIBUTING", "../contributing/glossary.html"),
        ("repository/benchmarks/index", "compare.py"),
        ("repository/examples/quickstart.py", "PrintLoss"),
        ("repository/examples/one_class_classification.ipynb", "data:image/png;base64,"),
        ("reference/api", "keep_checkpoints"),
    ],
)
def test_files_that_pages_link_to_are_pages_of_the_site(page: str, shown: str, site: Path) -> None:
    assert shown in (site / f"{page}.html").read_text(encoding="utf8")


def test_links_lead_to_files_so_that_the_site_can_be_read_without_a_server(site: Path) -> None:
    lost = [
        f"{page.relative_to(site)}: {link}"
        for page in site.rglob("*.html")
        if page.name != "404.html"  # which a server shows, wherever it was asked for
        for link in set(re.findall(r'<a [^>]*href="([^"#:]+)["#]', page.read_text(encoding="utf8")))
        if not (page.parent / link).is_file()
    ]
    assert lost == []


def test_the_api_has_a_heading_for_every_public_name(site: Path) -> None:
    import gensim_tfw2v

    text = (site / "reference" / "api.html").read_text(encoding="utf8")
    names = [name for name in gensim_tfw2v.__all__ if name != "__version__"]
    assert [name for name in names if f'id="gensim_tfw2v.{name}"' not in text] == []
