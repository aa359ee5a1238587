"""PENDING → CLAIMED"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from ..dialects import Claim, dialect_for

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper


def claim(
    connection: BaseDatabaseWrapper,
    *,
    queues: Sequence[str] | None = None,
    limit: int = 1,
    worker_id: UUID | None = None,
    due_only: bool = True,
) -> list[Claim]:
    """Claim up to `limit` tasks, by priority and then by age; of all queues where none are named."""
    dialect = dialect_for(connection)
    if queues is None:
        queues = dialect.pending_queues(connection)
    return dialect.claim(connection, queues=queues, limit=limit, worker_id=worker_id, due_only=due_only)


def claim_one(connection: BaseDatabaseWrapper, task_id: UUID) -> Claim | None:
    """Claim this very task, if it is due and nobody else has it."""
    return dialect_for(connection).claim_one(connection, task_id)
