"""TensorBoard's projector, asked as its web page asks it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
from tensorboard.plugins.base_plugin import TBContext
from tensorboard.plugins.projector.projector_plugin import ProjectorPlugin
from werkzeug.test import Client


class Plugin:
    """TensorBoard's projector, as its web page calls it."""

    def __init__(self, logdir: Path, kind: type[Any] = ProjectorPlugin) -> None:
        provider = MultiplexerDataProvider(EventMultiplexer({".": str(logdir)}), str(logdir))
        plugin = kind(TBContext(logdir=str(logdir), data_provider=provider))
        self._clients = {route: Client(app) for route, app in plugin.get_plugin_apps().items()}

    def get(self, route: str, headers: dict[str, str] | None = None, **query: Any) -> bytes:
        """Return the answer to a call of the web page."""
        answer = self._clients[f"/{route}"].get(query_string={"run": ".", **query}, headers=headers)
        assert answer.status_code == 200, answer.data
        return answer.data

    def names(self) -> list[str]:
        """Return what the projector offers to show."""
        return [embedding["tensorName"] for embedding in json.loads(self.get("info"))["embeddings"]]

    def table(self, name: str = "vectors") -> list[list[str]]:
        """Return the metadata as cells, the header first, split as the web page splits them."""
        text = self.get("metadata", name=name, num_rows=100_000).decode()
        assert text.endswith("\n")
        return [line.split("\t") for line in text[:-1].split("\n")]

    def tensor(self, name: str = "vectors", size: int = 5) -> np.ndarray:
        """Return the vectors."""
        return np.frombuffer(self.get("tensor", name=name), np.float32).reshape(-1, size)
