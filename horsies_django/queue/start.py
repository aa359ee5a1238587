"""CLAIMED → RUNNING"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..dialects import Claim, dialect_for

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper


def start(connection: BaseDatabaseWrapper, claim: Claim, *, runner_pid: int) -> Claim | None:
    """Make a claimed task RUNNING and return the claim that says so; None if it no longer holds."""
    started = dialect_for(connection).start(connection, claim, runner_pid)
    if started is None:
        return None
    started_at, attempt_count = started
    return replace(claim, started_at=started_at, attempt_count=attempt_count, runner_pid=runner_pid)
