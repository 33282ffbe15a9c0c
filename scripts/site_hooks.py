"""Hooks of MkDocs: files of the repository that pages link to, outside of docs/, become pages of the site.

A page links to another file by its path in the repository, as in `../../benchmarks/README.md`. So the same page reads
well in the repository. On the site such a file is the page `repository/benchmarks/README.md`. A program becomes a page
that shows it, and a notebook a page with its text, code and output.
"""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
DOCS = "docs"
COPIES = "repository"
_PAGES = (".md",)
_PICTURES = (".png", ".svg")
_LANGUAGES = {".py": "python", ".sh": "bash", ".sbatch": "bash", ".c": "c", ".h": "c", ".toml": "toml", ".json": "json"}
# Code, which is left as it is, or the target of a link.
_CODE_OR_LINK = re.compile(
    r"(?P<code>^(?P<fence>`{3,}).*?^(?P=fence)`*$|`[^`\n]+`)|(?P<before>\]\()(?P<target>[^)\s]+)(?=\))",
    re.DOTALL | re.MULTILINE,
)
_ELSEWHERE = re.compile(r"[a-z]+:|#")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files outside of docs/ that pages link to, and those that these link to."""
    waiting = [page.src_uri for page in files.documentation_pages()]
    seen = {_path(uri) for uri in waiting}
    while waiting:
        uri = waiting.pop()
        for target in _linked(_text(uri), uri):
            if target not in seen and not target.startswith(f"{DOCS}/"):
                seen.add(target)
                copied = _copied(target, config)
                files.append(copied)
                if copied.src_uri.endswith(_PAGES):
                    waiting.append(copied.src_uri)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Change a page's links from paths in the repository to pages of the site."""
    return _with_links_of_the_site(markdown, page.file.src_uri)


def _copied(path: str, config: MkDocsConfig) -> File:
    """Return a file of the repository as a file of the site."""
    uri, suffix = _uri(path), Path(path).suffix
    inclusion = InclusionLevel.NOT_IN_NAV
    if suffix == ".ipynb":
        return File.generated(config, uri, content=_notebook(ROOT / path), inclusion=inclusion)
    if suffix in _LANGUAGES or not suffix:
        text = (ROOT / path).read_text(encoding="utf8")
        language = _LANGUAGES.get(suffix, "bash" if text.startswith("#!") else "text")
        content = f"# {path}\n\n````{language}\n{text}````\n"
        return File.generated(config, uri, content=content, inclusion=inclusion)
    if suffix in (*_PAGES, *_PICTURES):
        return File.generated(config, uri, abs_src_path=str(ROOT / path), inclusion=inclusion)
    raise PluginError(f"a page links to {path}: no rule says how the site shows files with names in {suffix}")


def _notebook(path: Path) -> str:
    """Return a notebook's text, code and output as a page."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        parts += [_output(output) for output in cell.get("outputs", [])]
    return "\n\n".join(filter(None, parts)) + "\n"


def _output(output: dict[str, Any]) -> str:
    """Return what a cell has shown: text of streams, Markdown or a picture."""
    data = output.get("data", {})
    if "image/png" in data:
        picture = "".join(data["image/png"]).replace("\n", "")
        return f'<img alt="what the cell draws" src="data:image/png;base64,{picture}">'
    if "text/markdown" in data:
        return "".join(data["text/markdown"])
    text = "".join(output.get("text") or data.get("text/plain", ""))
    return f"```text\n{text}\n```" if text.strip() else ""


def _text(uri: str) -> str:
    """Return the Markdown of a page of the site."""
    path = ROOT / _path(uri)
    if path.suffix == ".ipynb":
        return _notebook(path)
    return path.read_text(encoding="utf8") if path.suffix in _PAGES else ""


def _linked(markdown: str, uri: str) -> set[str]:
    """Return the paths in the repository of the files that a page links to."""
    found = (_resolved(match["target"], uri) for match in _CODE_OR_LINK.finditer(markdown) if match["target"])
    return {path for path in found if path}


def _with_links_of_the_site(markdown: str, uri: str) -> str:
    """Return a page's Markdown with links that lead to pages of the site. MkDocs warns of those that lead nowhere."""

    def changed(match: re.Match[str]) -> str:
        path = _resolved(match["target"], uri) if match["target"] else None
        if path is None:
            return match[0]
        there = posixpath.relpath(_uri(path), posixpath.dirname(uri) or ".")
        heading = match["target"].partition("#")[2]
        return match["before"] + there + (f"#{heading}" if heading else "")

    return _CODE_OR_LINK.sub(changed, markdown)


def _resolved(target: str, uri: str) -> str | None:
    """Return the path of the repository's file that a link leads to, if any; for a folder that of its page."""
    if _ELSEWHERE.match(target):
        return None
    name = target.partition("#")[0]
    path = posixpath.normpath(posixpath.join(posixpath.dirname(_path(uri)), name))
    if (ROOT / path).is_dir():
        path = posixpath.join(path, "README.md")
    return path if (ROOT / path).is_file() else None


def _path(uri: str) -> str:
    """Return the path in the repository of a file of the site."""
    if not uri.startswith(f"{COPIES}/"):
        return f"{DOCS}/{uri}"
    path = uri.removeprefix(f"{COPIES}/")
    return path if (ROOT / path).is_file() else path.removesuffix(".md")


def _uri(path: str) -> str:
    """Return what the site calls a file of the repository; what is shown as a page has a name in .md."""
    if path.startswith(f"{DOCS}/"):
        return path.removeprefix(f"{DOCS}/")
    return f"{COPIES}/{path}" + ("" if path.endswith((*_PAGES, *_PICTURES)) else ".md")
