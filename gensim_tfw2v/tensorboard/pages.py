"""TensorBoard's pages as `tfw2v tensorboard` serves them, with two additional scripts.

One labels points in the projector, the other one narrows the table of the HParams tab. The scripts leave a page alone
if they do not find what they change.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from tensorboard.backend.http_util import Respond
from tensorboard.plugins.projector.projector_plugin import ProjectorPlugin
from werkzeug.wrappers import Request, Response

_INDEX, _COLUMNS = "index.html", "hparams_columns.js"
_PROJECTOR, _LABELS = "projector_binary.html", "projector_labels.js"


class LabelledProjector(ProjectorPlugin):
    """The projector, whose page has the script that labels points."""

    def get_plugin_apps(self) -> dict[str, Callable[..., Any]]:
        """Return the application that answers each address of the plugin."""
        apps: dict[str, Callable[..., Any]] = super().get_plugin_apps()
        return apps | {f"/{_PROJECTOR}": _projector_page(apps[f"/{_PROJECTOR}"]), f"/{_LABELS}": _labels}


def with_labels(plugins: list[Any]) -> list[Any]:
    """Return TensorBoard's plugins with the labelled projector in place of its own."""
    return [LabelledProjector if plugin is ProjectorPlugin else plugin for plugin in plugins]


def with_columns(files: Callable[[], IO[bytes]] | None) -> Callable[[], IO[bytes]] | None:
    """Return a function that opens the zip file of TensorBoard's main page, with the script that narrows columns."""
    return files and (lambda: _changed_files(files))


def _changed_files(files: Callable[[], IO[bytes]]) -> IO[bytes]:
    changed = io.BytesIO()
    with files() as file, zipfile.ZipFile(file) as plain, zipfile.ZipFile(changed, "w") as archive:
        for name in plain.namelist():
            content = plain.read(name)
            archive.writestr(name, _with_script(content, _COLUMNS) if name == _INDEX else content)
        archive.writestr(_COLUMNS, _script(_COLUMNS))
    changed.seek(0)
    return changed


def _projector_page(page: Callable[..., Any]) -> Callable[..., Any]:
    @Request.application
    def changed_page(request: Request) -> Response:
        plain = {name: value for name, value in request.environ.items() if name != "HTTP_ACCEPT_ENCODING"}
        answer = Response.from_app(page, plain)  # not compressed
        answer.set_data(_with_script(answer.get_data(), _LABELS))
        return answer

    return changed_page


@Request.application
def _labels(request: Request) -> Response:
    answer: Response = Respond(request, _script(_LABELS), "text/javascript")
    return answer


def _script(name: str) -> bytes:
    return Path(__file__).with_name(name).read_bytes()


def _with_script(page: bytes, script: str) -> bytes:
    return page.replace(b"</body>", f'<script src="{script}"></script></body>'.encode())
