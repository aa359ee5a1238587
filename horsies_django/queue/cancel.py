"""PENDING | CLAIMED → CANCELLED; a RUNNING task is asked to stop"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from ..dialects import dialect_for
from ..states import TaskStatus

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper


def cancel(connection: BaseDatabaseWrapper, task_id: UUID, *, reason: str) -> TaskStatus | None:
    """Cancel a task, or ask it to stop, and return its status now; None if it had ended already."""
    status = dialect_for(connection).cancel(connection, task_id, reason)
    return TaskStatus(status) if status else None
