"""A task's row as Django's TaskResult, with the verbs that horsies adds to it."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from django.utils.module_loading import import_string

from .base import HorsiesTask, without_validation
from .compat import (
    TASK_REFRESH_ATTRS,
    GenericTaskResult,
    TaskError,
    TaskResult,
    TaskResultDoesNotExist,
    TaskResultStatus,
)
from .compat import Task as DjangoTask
from .exceptions import EXCEPTION_FOR_CODE, TaskFailure, TaskNotFound
from .ids import dotted_path
from .models import Task, TaskAttempt
from .retries import RetryPolicy, milliseconds
from .states import AttemptOutcome, TaskStatus

if TYPE_CHECKING:
    from typing import Self

P = ParamSpec("P")
R = TypeVar("R")

DJANGO_STATUS = {
    TaskStatus.PENDING: TaskResultStatus.READY,
    TaskStatus.CLAIMED: TaskResultStatus.READY,
    TaskStatus.RUNNING: TaskResultStatus.RUNNING,
    TaskStatus.COMPLETED: TaskResultStatus.SUCCESSFUL,
    TaskStatus.FAILED: TaskResultStatus.FAILED,
    TaskStatus.CANCELLED: TaskResultStatus.FAILED,
    TaskStatus.EXPIRED: TaskResultStatus.FAILED,
}
REFRESHED = TASK_REFRESH_ATTRS | {"error_code", "error_message", "progress"}
FAILED_OUTCOMES = (
    AttemptOutcome.FAILED,
    AttemptOutcome.CRASHED,
    AttemptOutcome.TIMED_OUT,
    AttemptOutcome.CANCELLED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HorsiesTaskResult(GenericTaskResult[P, R]):  # type: ignore[misc]  # the stubs forget that it is frozen
    """How one task stands, as of the last look; `refresh()` looks again."""

    error_code: str = ""
    error_message: str = ""
    progress: Any = None

    def refresh(self) -> None:
        """Look at the task again."""
        self._take_over(self.task.get_backend().get_result(self.id))

    async def arefresh(self) -> None:
        """Look at the task again."""
        self._take_over(await self.task.get_backend().aget_result(self.id))

    def wait(self, timeout: float | timedelta | None = None) -> Self:
        """Return this result when the task has ended; TaskNotFinished if that takes longer than `timeout` s."""
        self._backend.wait(self, timeout)
        return self

    async def await_finished(self, timeout: float | timedelta | None = None) -> Self:
        """Do what `wait()` does, without blocking the event loop."""
        await self._backend.await_finished(self, timeout)
        return self

    def cancel(self) -> bool:
        """Cancel the task, or ask it to stop if it runs; False if it had ended already."""
        cancelled: bool = self._backend.cancel(self.id)
        self.refresh()
        return cancelled

    async def acancel(self) -> bool:
        """Do what `cancel()` does."""
        cancelled: bool = await self._backend.acancel(self.id)
        await self.arefresh()
        return cancelled

    @property
    def _backend(self) -> Any:
        return self.task.get_backend()

    def _take_over(self, refreshed: TaskResult[..., Any]) -> None:
        for name in REFRESHED:
            object.__setattr__(self, name, getattr(refreshed, name))


def get_result(task_id: str, using: str) -> HorsiesTaskResult[..., Any]:
    """Return how a task stands, read on the database it was written to."""
    try:
        row = Task.objects.using(using).get(pk=uuid.UUID(str(task_id)))
    except (Task.DoesNotExist, ValueError):
        raise TaskResultDoesNotExist(task_id) from None
    return result_from_row(row)


def result_from_row(row: Task) -> HorsiesTaskResult[..., Any]:
    """Return a task's row, and its attempts, as a TaskResult."""
    # On the database that the row came from, whatever a router would say.
    attempts = list(
        TaskAttempt.objects.using(row._state.db)
        .filter(task_id=row.pk)
        .exclude(outcome=AttemptOutcome.REJECTED)
        .order_by("pk")
    )
    starts = [attempt.started_at for attempt in attempts if attempt.started_at]
    workers = [_worker_id(attempt) for attempt in attempts]
    if row.status == TaskStatus.RUNNING and row.started_at:
        starts.append(row.started_at)
        workers.append(_worker_id(row))
    result: HorsiesTaskResult[..., Any] = HorsiesTaskResult(
        task=task_type_of(row),
        id=str(row.id),
        status=DJANGO_STATUS[TaskStatus(row.status)],
        enqueued_at=row.enqueued_at,
        started_at=starts[0] if starts else None,
        last_attempted_at=starts[-1] if starts else None,
        finished_at=row.finished_at,
        args=row.args,
        kwargs=row.kwargs,
        backend=row.backend,
        errors=_errors(row, attempts),
        worker_ids=workers,
        error_code=row.error_code,
        error_message=row.error_message,
        progress=row.progress,
    )
    object.__setattr__(result, "_return_value", row.result)
    return result


def resolve_task(name: str) -> HorsiesTask[..., Any]:
    """Return the task type of this name; TaskNotFound if there is none."""
    try:
        found = import_string(name)
    except Exception as error:
        raise TaskNotFound(f"There is no task {name!r} here: {type(error).__name__}: {error}") from error
    if isinstance(found, HorsiesTask):
        return found
    if isinstance(found, DjangoTask):
        return without_validation(found)
    if not callable(found):
        raise TaskNotFound(f"{name!r} is not a function but {type(found)}.")
    return without_validation(func=found)


def task_type_of(row: Task) -> HorsiesTask[..., Any]:
    """Return the task type of a row, with the options it was enqueued with."""
    try:
        declared = resolve_task(row.name)
    except TaskNotFound:
        declared = without_validation(func=_stand_in_for(row.name))
    return without_validation(
        declared,
        priority=row.priority,
        queue_name=row.queue_name,
        run_after=row.run_after,
        backend=row.backend,
        retry=RetryPolicy.from_json(row.retry_policy) if isinstance(row.retry_policy, dict) else None,
        timeout=declared.timeout if milliseconds(declared.timeout) == row.timeout_ms else _seconds(row.timeout_ms),
        expires=declared.expires if row.expires_at else None,
        unique_key=row.unique_key,
        idempotent=row.idempotent,
    )


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


def _stand_in_for(name: str) -> Callable[..., Any]:
    """Return a function for a task type that is gone, so that its results stay readable."""

    def gone(*args: Any, **kwargs: Any) -> Any:
        raise TaskNotFound(f"There is no task {name!r} here.")

    gone.__module__, _, gone.__qualname__ = name.rpartition(".")
    gone.__name__ = gone.__qualname__
    return gone


def _worker_id(source: Task | TaskAttempt) -> str:
    return str(source.worker_id or f"pid-{source.runner_pid}")


def _errors(row: Task, attempts: list[TaskAttempt]) -> list[TaskError]:
    errors = [
        TaskError(
            exception_class_path=attempt.exception_class or _exception_path_for(attempt.error_code),
            traceback=attempt.traceback or attempt.error_message,
        )
        for attempt in attempts
        if attempt.outcome in FAILED_OUTCOMES
    ]
    if not errors and row.error_code:
        errors.append(
            TaskError(
                exception_class_path=_exception_path_for(row.error_code),
                traceback=row.traceback or row.error_message,
            )
        )
    return errors


def _exception_path_for(error_code: str) -> str:
    return dotted_path(EXCEPTION_FOR_CODE.get(error_code, TaskFailure))
