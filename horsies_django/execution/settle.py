"""The one door out of RUNNING."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..dialects import Claim
from ..queue.finish import finish
from ..states import TaskStatus
from .decide import decide
from .outcomes import Outcome

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper


def settle(connection: BaseDatabaseWrapper, claim: Claim, outcome: Outcome) -> TaskStatus | None:
    """Write what follows from an outcome and return the task's status; None if the claim no longer held it."""
    try:
        ending = decide(outcome, claim)
    except Exception:
        # Whatever is wrong with its stored policy, the task must leave RUNNING.
        ending = decide(outcome, replace(claim, retry_policy=None))
    return finish(connection, claim, ending)
