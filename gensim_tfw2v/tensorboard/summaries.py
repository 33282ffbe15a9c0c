"""Summaries for TensorBoard's HParams tab, made by TensorBoard's own code."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

_COLUMNS = 5  # hyper-parameters that TensorBoard's table shows unless the user chooses others


def experiment(hyperparameters: Mapping[str, Any], metrics: Sequence[str]) -> Any:
    """Return the summary that says which hyper-parameters and which scalars the HParams tab compares.

    The first hyper-parameters have columns in the tab's table; the user can choose others.
    """
    from tensorboard.plugins.hparams import api_pb2, metadata

    # TensorBoard sorts them by name, but those that are declared to differ between runs come first.
    hparams = [
        api_pb2.HParamInfo(name=name, type=_type_of(value), differs=place < _COLUMNS)
        for place, (name, value) in enumerate(hyperparameters.items())
    ]
    compared = [api_pb2.MetricInfo(name=api_pb2.MetricName(tag=tag), display_name=tag) for tag in metrics]
    return _of_hparams(
        metadata.EXPERIMENT_TAG, experiment=api_pb2.Experiment(hparam_infos=hparams, metric_infos=compared)
    )


def session_start(hyperparameters: Mapping[str, Any], run: str) -> Any:
    """Return the hyper-parameters of a TensorBoard run."""
    from tensorboard.plugins.hparams.summary_v2 import hparams_pb

    return hparams_pb(dict(hyperparameters), trial_id=run)


def session_end(succeeded: bool) -> Any:
    """Return the summary that says whether a TensorBoard run succeeded, and when it ended."""
    from tensorboard.plugins.hparams import api_pb2, metadata, plugin_data_pb2

    status = api_pb2.STATUS_SUCCESS if succeeded else api_pb2.STATUS_FAILURE
    end = plugin_data_pb2.SessionEndInfo(status=status, end_time_secs=time.time())
    return _of_hparams(metadata.SESSION_END_INFO_TAG, session_end_info=end)


def _type_of(value: Any) -> Any:
    from tensorboard.plugins.hparams import api_pb2

    if isinstance(value, bool):
        return api_pb2.DATA_TYPE_BOOL
    return api_pb2.DATA_TYPE_STRING if isinstance(value, str) else api_pb2.DATA_TYPE_FLOAT64


def _of_hparams(tag: str, **content: Any) -> Any:
    """Return a summary with this content for the HParams plugin."""
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.plugins.hparams import metadata, plugin_data_pb2

    described = metadata.create_summary_metadata(plugin_data_pb2.HParamsPluginData(**content))
    return Summary(value=[Summary.Value(tag=tag, metadata=described, tensor=metadata.NULL_TENSOR)])
