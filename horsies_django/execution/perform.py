"""One task from claimed to ended, in this process."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from ..compat import task_finished, task_started
from ..dialects import Claim, Ending
from ..queue.start import start
from ..results import get_result
from ..signals import task_retried
from .run import run
from .settle import settle

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper


def perform(
    connection: BaseDatabaseWrapper,
    claim: Claim,
    *,
    around_user_code: AbstractContextManager[None] | None = None,
) -> Ending | None:
    """Start a claimed task, run it and write its end; None if the claim did not hold to the end."""
    started = start(connection, claim, runner_pid=os.getpid())
    if started is None:
        return None
    result = get_result(str(claim.task_id), connection.alias)
    sender = type(result.task.get_backend())
    task_started.send_robust(sender, task_result=result)
    with around_user_code or nullcontext():
        outcome = run(connection, started, result)
    ending = settle(connection, started, outcome)
    if ending is not None:
        result.refresh()
        signal = task_finished if ending.retry_delay is None else task_retried
        signal.send_robust(sender, task_result=result)
    return ending
