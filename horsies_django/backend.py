"""The backend for Django's task framework."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from asgiref.sync import sync_to_async
from django.apps import apps
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connections

from .base import Call, HorsiesTask, without_validation
from .compat import BaseTaskBackend, InvalidTask, task_enqueued
from .conf import get_config
from .signals import task_cancelled
from .states import TaskStatus
from .validation import base_complaints, function_complaints, option_complaints

if TYPE_CHECKING:
    from .results import HorsiesTaskResult

    Result = HorsiesTaskResult[..., Any]
    AnyTask = HorsiesTask[..., Any]

NOT_INSTALLED = "'horsies_django' is not in INSTALLED_APPS. Add it, and run: python manage.py migrate"


@cache
def require_app() -> None:
    """Raise ImproperlyConfigured if the app of this backend is not installed."""
    if not apps.is_installed("horsies_django"):
        raise ImproperlyConfigured(f"TASKS uses horsies, but {NOT_INSTALLED}")


def as_horsies_task(task: Any) -> AnyTask:
    """Return the task type with the options of horsies; one that was declared for another backend has none."""
    return task if isinstance(task, HorsiesTask) else without_validation(task)


@contextmanager
def explaining_missing_tables() -> Iterator[None]:
    """Add to the error of a database without our tables how to create them."""
    try:
        yield
    except DatabaseError as error:
        if "horsies_tasks" in str(error):
            error.add_note("Are the tables of horsies there? Run: python manage.py migrate")
        raise


# Task types are made, and ask for their backend, while Django is still loading its models. So what
# needs models is imported by the methods here, when they are called.


class HorsiesBackend(BaseTaskBackend):
    """Keeps tasks in the database that HORSIES['DATABASE'] names."""

    task_class = HorsiesTask
    supports_defer = True
    supports_async_task = True
    supports_get_result = True
    supports_priority = True
    supports_timedelta = True

    def validate_task(self, task: AnyTask) -> None:  # type: ignore[override]
        """Raise InvalidTask with all that keeps a task type from being enqueued or run."""
        task = as_horsies_task(task)
        complaints = list(function_complaints(task)) or [
            *base_complaints(task, self.queues),
            *option_complaints(task),
        ]
        if complaints:
            raise InvalidTask(" ".join(complaints))
        # Django's rules last: what they say is less of a help. They know no timedelta.
        relative = isinstance(task.run_after, timedelta)
        super().validate_task(without_validation(task, run_after=None) if relative else task)

    def enqueue(self, task: AnyTask, args: Sequence[Any], kwargs: dict[str, Any]) -> Result:  # type: ignore[override]
        """Write a task, within the caller's transaction, and return its result."""
        require_app()
        from .queue.enqueue import enqueue

        self.validate_task(task)
        with explaining_missing_tables():
            result, created = enqueue(as_horsies_task(task), args, kwargs)
        if created:
            task_enqueued.send_robust(type(self), task_result=result)
        return result

    def enqueue_many(self, task: AnyTask, calls: Sequence[Call]) -> list[Result]:
        """Write a task for each call, all or none of them, and return their results in order."""
        require_app()
        from .queue.enqueue import enqueue_many

        self.validate_task(task)
        with explaining_missing_tables():
            results = enqueue_many(as_horsies_task(task), calls)
        for result in results:
            task_enqueued.send_robust(type(self), task_result=result)
        return results

    def get_result(self, result_id: str) -> Result:
        """Return how a task stands; TaskResultDoesNotExist if there is none of this id."""
        require_app()
        from .results import get_result

        return get_result(result_id, get_config().database)

    def cancel(self, result_id: str) -> bool:
        """Cancel a task, or ask it to stop if it runs; False if it had ended already."""
        from .queue.cancel import cancel

        result = self.get_result(result_id)
        connection = connections[get_config().database]
        status = cancel(connection, uuid.UUID(result.id), reason="Cancelled by the application.")
        if status == TaskStatus.CANCELLED:
            result.refresh()
            task_cancelled.send_robust(type(self), task_result=result)
        return status is not None

    async def acancel(self, result_id: str) -> bool:
        """Do what `cancel()` does."""
        return await sync_to_async(self.cancel, thread_sensitive=True)(result_id)

    def wait(self, result: Result, timeout: float | timedelta | None) -> None:
        """Return when the task has ended; TaskNotFinished if that takes longer than `timeout` seconds."""
        from .queue.wait import wait

        wait(result, timeout)

    async def await_finished(self, result: Result, timeout: float | timedelta | None) -> None:
        """Do what `wait()` does, without blocking the event loop."""
        from .queue.wait import await_finished

        await await_finished(result, timeout)

    def check(self, **kwargs: Any) -> list[checks.CheckMessage]:
        """Tell whether the app of this backend is installed."""
        if apps.is_installed("horsies_django"):
            return []
        return [
            checks.Error(
                f"TASKS[{self.alias!r}] uses horsies, but its app is not installed.",
                hint=NOT_INSTALLED,
                id="horsies.E009",
            )
        ]
