"""RUNNING → COMPLETED | FAILED | CANCELLED, or → PENDING for a retry"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..dialects import Claim, Ending, dialect_for

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper


def end(connection: BaseDatabaseWrapper, claim: Claim, ending: Ending) -> bool:
    """Write how a run ended, with its attempt; False if the claim no longer holds, and that is recorded."""
    return dialect_for(connection).end(connection, claim, ending)
