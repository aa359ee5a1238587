"""System checks: what is wrong with the settings, and what to do about it."""

from __future__ import annotations

from django.core import checks

from .databases import check_databases
from .live import check_live_databases
from .settings import check_settings
from .tasks import check_task_backends


def register() -> None:
    """Have Django run the checks of horsies with its own."""
    for check in (check_settings, check_databases, check_task_backends):
        checks.register(check)
    checks.register(check_live_databases, checks.Tags.database)
