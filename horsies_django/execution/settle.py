"""The one door out of RUNNING."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..dialects import Claim, Ending
from ..queue.end import end
from .decide import decide
from .outcomes import Outcome

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper


def settle(connection: BaseDatabaseWrapper, claim: Claim, outcome: Outcome) -> Ending | None:
    """Write what follows from an outcome and return it; None if the claim no longer held the task."""
    ending = decide(outcome, claim)
    return ending if end(connection, claim, ending) else None
