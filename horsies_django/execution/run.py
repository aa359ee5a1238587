"""Call the function of a task."""

from __future__ import annotations

import traceback
from functools import partial
from typing import TYPE_CHECKING, Any

from ..base import HorsiesTask
from ..context import HorsiesTaskContext
from ..dialects import Claim
from ..exceptions import ResultNotSerializable, Retry, TaskFailure, TaskNotFound, is_error_code
from ..limits import MAX_MESSAGE_LENGTH, MAX_TRACEBACK_LENGTH
from ..payload import encode, find_culprit, storable
from ..queue.progress import is_cancelled, set_progress
from ..results import HorsiesTaskResult, resolve_task
from ..states import ErrorCode
from .outcomes import Outcome, Raised, Returned

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper


def run(connection: BaseDatabaseWrapper, claim: Claim, result: HorsiesTaskResult[..., Any]) -> Outcome:
    """Call the function of a claimed and started task, and return how that ended."""
    try:
        task = resolve_task(claim.name)
        context = [_context(connection, claim, result)] if task.takes_context else []
        return _returned(task, task.call(*context, *claim.args, **claim.kwargs))
    except KeyboardInterrupt:
        # The person at the keyboard means the process, not the task.
        raise
    except BaseException as error:
        return raised(error)


def raised(error: BaseException) -> Raised:
    """Return an exception as an outcome."""
    return Raised(
        error_code=_error_code(error),
        message=storable(_message(error), MAX_MESSAGE_LENGTH),
        exception=error,
        traceback=storable("".join(traceback.format_exception(error)), MAX_TRACEBACK_LENGTH),
        asked_for_retry=isinstance(error, Retry),
        asked_delay_seconds=getattr(error, "delay_seconds", None) if isinstance(error, Retry) else None,
    )


def _message(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:
        text = "(its message cannot be shown)"
    return text if isinstance(error, TaskFailure) else f"{type(error).__name__}: {text}"


def _returned(task: HorsiesTask[..., Any], value: Any) -> Returned:
    try:
        return Returned(encode(value))
    except (TypeError, ValueError):
        raise ResultNotSerializable(
            f"{task.module_path} returned {value!r:.200}, which is not JSON: {find_culprit(value, 'the result')}."
        ) from None


def _context(
    connection: BaseDatabaseWrapper, claim: Claim, result: HorsiesTaskResult[..., Any]
) -> HorsiesTaskContext[..., Any]:
    return HorsiesTaskContext(
        task_result=result,
        claim_generation=claim.generation,
        report_progress=partial(set_progress, connection, claim),
        ask_cancelled=partial(is_cancelled, connection, claim),
    )


def _error_code(error: BaseException) -> str:
    match error:
        case TaskFailure() if is_error_code(getattr(error, "code", None)):
            return error.code
        case TaskNotFound():
            return ErrorCode.WORKER_RESOLUTION_ERROR
        case ResultNotSerializable():
            return ErrorCode.WORKER_SERIALIZATION_ERROR
    return ErrorCode.UNHANDLED_EXCEPTION
