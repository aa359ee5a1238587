"""RUNNING → COMPLETED | FAILED | CANCELLED, or → PENDING for a retry"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..dialects import Claim, Ending, dialect_for
from ..states import TaskStatus

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper


def finish(connection: BaseDatabaseWrapper, claim: Claim, ending: Ending) -> TaskStatus | None:
    """Write how a run ended, with its attempt, and return the task's status.

    None if the claim no longer holds, which is recorded as a refused attempt. A task that should be retried but
    was asked to stop meanwhile is cancelled instead.
    """
    status = dialect_for(connection).finish(connection, claim, ending)
    return TaskStatus(status) if status else None
