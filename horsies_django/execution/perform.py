"""One task from claimed to ended, in this process."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from django.dispatch import Signal

from ..compat import BaseTaskBackend, InvalidTaskBackend, task_finished, task_started
from ..dialects import Claim
from ..queue.start import start
from ..results import HorsiesTaskResult, get_result
from ..signals import task_cancelled, task_retried
from ..states import TaskStatus
from .outcomes import Outcome, Raised
from .run import run
from .settle import settle

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper


def perform(
    connection: BaseDatabaseWrapper,
    claim: Claim,
    *,
    around_user_code: AbstractContextManager[None] | None = None,
) -> TaskStatus | None:
    """Start a claimed task, run it, write its end and return its status; None if the claim did not hold."""
    started = start(connection, claim, runner_pid=os.getpid())
    if started is None:
        return None
    result = get_result(str(claim.task_id), connection.alias)
    sender = _sender(result)
    task_started.send_robust(sender, task_result=result)
    with around_user_code or nullcontext():
        outcome = run(connection, started, result)
    status = settle(connection, started, outcome)
    if status is not None:
        result = get_result(str(claim.task_id), connection.alias)
        _announce(task_retried if status == TaskStatus.PENDING else task_finished, sender, result, outcome)
        if status == TaskStatus.CANCELLED:
            task_cancelled.send_robust(sender, task_result=result)
    return status


def _sender(result: HorsiesTaskResult[..., Any]) -> type:
    try:
        return type(result.task.get_backend())
    except InvalidTaskBackend:
        return BaseTaskBackend  # the alias it was enqueued with is gone from TASKS


def _announce(signal: Signal, sender: type, result: HorsiesTaskResult[..., Any], outcome: Outcome) -> None:
    """Send a signal, from within an exception handler if the task raised: there receivers find the traceback."""
    try:
        if isinstance(outcome, Raised):
            raise outcome.exception
    except BaseException:
        signal.send_robust(sender, task_result=result)
    else:
        signal.send_robust(sender, task_result=result)
