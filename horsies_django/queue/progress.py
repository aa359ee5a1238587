"""What a running task and those who watch it tell each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..dialects import Claim, dialect_for
from ..models import Task
from ..payload import encode

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper


def set_progress(connection: BaseDatabaseWrapper, claim: Claim, fraction: float, message: str) -> None:
    """Keep how far a running task is."""
    progress = encode({"fraction": fraction, "message": message})
    dialect_for(connection).set_progress(connection, claim, progress)


def is_cancelled(connection: BaseDatabaseWrapper, claim: Claim) -> bool:
    """Tell whether this claim should stop: somebody asked it to, or it no longer holds the task."""
    return (
        not Task.objects.using(connection.alias)
        .filter(
            pk=claim.task_id,
            status="RUNNING",
            claim_generation=claim.generation,
            cancel_requested_at__isnull=True,
        )
        .exists()
    )
