"""Tables of schedules that were played."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from report.reports import MISSING

from fault_injection.schedules import DESIGNS, Event, Schedule

Run = dict[str, Any]


def by_design(runs: Sequence[Run]) -> list[list[str]]:
    """Return a row for each design, and one for all of them."""
    heading = ["design", "schedules", "events", "recoveries", "errors", "seconds", "undisturbed s", "least score"]
    groups = {name: [run for run in runs if run["schedule"]["design"] == name] for name in DESIGNS} | {"all": runs}
    return [[*heading, "with a violation"], *(_row(name, group) for name, group in groups.items() if group)]


def _row(name: str, runs: Sequence[Run]) -> list[str]:
    results = [result for run in runs for result in run["results"]]
    ratios = [
        result["score"] / run["undisturbed_score"]
        for run in runs
        for result in run["results"]
        if run["undisturbed_score"] and run["schedule"]["design"] != "lbfgs"
    ]
    usual = [run["undisturbed_seconds"] for run in runs]
    wrong = sum(bool(run["violations"]) for run in runs)
    return [
        name,
        str(len(runs)),
        str(sum(moment is not None for run in runs for moment in run["happened"])),
        str(sum(result["recoveries"] for result in results)),
        str(sum(len(run["errors"]) for run in runs)),
        _range(run["seconds"] for run in runs),
        _range(usual),
        f"{min(ratios):.0%}" if ratios else MISSING,
        f"**{wrong}**" if wrong else "0",
    ]


def by_event(runs: Sequence[Run]) -> list[list[str]]:
    """Return a row for each action and for each stage, with how many events were drawn and have happened."""
    pairs = [
        (event, moment)
        for run in runs
        for event, moment in zip(Schedule.from_json(run["schedule"]).events, run["happened"], strict=True)
    ]
    keys: tuple[tuple[str, Callable[[Event], str]], ...] = (
        ("action", lambda event: event.action),
        ("of", lambda event: event.victim.rstrip("0123456789") or "storage"),
        ("at", lambda event: event.moment.stage),
    )
    rows = [["", "event", "drawn", "happened"]]
    for what, key in keys:
        for name in sorted({key(event) for event, _ in pairs}):
            moments = [moment for event, moment in pairs if key(event) == name]
            rows.append([what, name, str(len(moments)), str(sum(moment is not None for moment in moments))])
    return rows


def violations(runs: Iterable[Run]) -> list[list[str]]:
    """Return a row for each violation, only the heading if there is none."""
    rows = [(run["name"], " / ".join(text.splitlines())) for run in runs for text in run["violations"]]
    return [["schedule", "violation"], *([name, text.replace("|", "\\|")] for name, text in rows)]


def _range(values: Iterable[float]) -> str:
    found = sorted(values)
    return f"{found[len(found) // 2]:.0f} ({found[0]:.0f} to {found[-1]:.0f})"
