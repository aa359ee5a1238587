"""Django's TASKS setting, as far as horsies is concerned."""

from __future__ import annotations

from typing import Any

from django.core.checks import CheckMessage, Warning
from django.core.exceptions import ImproperlyConfigured

from ..backend import HorsiesBackend
from ..compat import InvalidTaskBackend, task_backends
from ..conf import get_config
from ..problems import nearest_name


def check_task_backends(**kwargs: Any) -> list[CheckMessage]:
    """Report that nothing is enqueued through horsies, or that a cap names a queue nobody has."""
    try:
        backends = [backend for backend in task_backends.all() if isinstance(backend, HorsiesBackend)]
    except InvalidTaskBackend:
        return []  # Django tells which
    if not backends:
        return [_unused()]
    known = {queue for backend in backends for queue in backend.queues}
    if not all(backend.queues for backend in backends):
        return []  # a backend that lists no queues takes any
    try:
        capped = get_config().queues
    except ImproperlyConfigured:
        return []  # check_settings tells why
    return [_unknown_queue(name, known) for name in capped if name not in known]


def _unused() -> CheckMessage:
    return Warning(
        "horsies is installed, but no entry of TASKS uses it, so no task is written to the queue.",
        hint="Set TASKS = {'default': {'BACKEND': 'horsies_django.backend.HorsiesBackend', 'QUEUES': []}}.",
        id="horsies.W006",
    )


def _unknown_queue(name: str, known: set[str]) -> CheckMessage:
    nearest = nearest_name(name, known)
    return Warning(
        f"HORSIES['QUEUES'] names {name!r}, a queue that no backend in TASKS lists.",
        hint=f"Did you mean {nearest!r}?" if nearest else f"Known: {', '.join(sorted(known))}.",
        id="horsies.W008",
    )
