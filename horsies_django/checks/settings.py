"""HORSIES itself."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning

from ..conf import find_setting_problems, get_config
from ..problems import Problem

IDS = {
    "unknown": "horsies.E001",
    "type": "horsies.E002",
    "bounds": "horsies.E003",
    "threshold": "horsies.E004",
    "choice": "horsies.E005",
    "alias": "horsies.E006",
}
SLOW_DETECTION_MS = 10 * 60 * 1000


def check_settings(**kwargs: Any) -> list[CheckMessage]:
    """Report every problem of the HORSIES setting, each as an error of its own."""
    problems = find_setting_problems(getattr(settings, "HORSIES", {}))
    if problems:
        return [_error(problem) for problem in problems]
    return _slow_detection()


def _error(problem: Problem) -> Error:
    return Error(
        f"{problem.field} = {problem.value!r}: {problem.rule}.",
        hint=problem.advice.strip() or None,
        id=IDS[problem.kind],
    )


def _slow_detection() -> list[CheckMessage]:
    recovery = get_config().recovery
    worst = recovery.worst_case_detection_ms
    if worst <= SLOW_DETECTION_MS:
        return []
    return [
        Warning(
            f"With these thresholds a lost task may go unseen for {worst / 60_000:.1f} minutes when only its "
            "heartbeats tell of it.",
            hint="Lower running_stale_threshold_ms, claimed_stale_threshold_ms or check_interval_ms in "
            "HORSIES['RECOVERY'], unless tasks are known to block their heartbeats for that long.",
            id="horsies.W005",
        )
    ]
