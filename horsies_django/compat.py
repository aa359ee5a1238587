"""The one place that knows which task framework is in use.

Django 6.0 brought `django.tasks`; on Django 5.2 the backport `django-tasks` has the same API under
slightly different names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, ParamSpec, TypeVar

import django

if TYPE_CHECKING or django.VERSION >= (6, 0):
    from django.tasks import task_backends
    from django.tasks.backends.base import BaseTaskBackend
    from django.tasks.base import (
        DEFAULT_TASK_BACKEND_ALIAS,
        DEFAULT_TASK_PRIORITY,
        DEFAULT_TASK_QUEUE_NAME,
        TASK_MAX_PRIORITY,
        TASK_MIN_PRIORITY,
        TASK_REFRESH_ATTRS,
        Task,
        TaskContext,
        TaskError,
        TaskResult,
        TaskResultStatus,
    )
    from django.tasks.exceptions import (
        InvalidTask,
        InvalidTaskBackend,
        TaskResultDoesNotExist,
        TaskResultMismatch,
    )
    from django.tasks.signals import task_enqueued, task_finished, task_started
    from django.utils.json import normalize_json
else:
    try:
        # Registers the framework's system checks, so that the backport needs no line in INSTALLED_APPS.
        import django_tasks.checks  # noqa: F401
        from django_tasks import task_backends
        from django_tasks.backends.base import BaseTaskBackend
        from django_tasks.base import (
            DEFAULT_TASK_BACKEND_ALIAS,
            DEFAULT_TASK_PRIORITY,
            DEFAULT_TASK_QUEUE_NAME,
            TASK_MAX_PRIORITY,
            TASK_MIN_PRIORITY,
            TASK_REFRESH_ATTRS,
            Task,
            TaskContext,
            TaskError,
            TaskResult,
            TaskResultStatus,
        )
        from django_tasks.exceptions import (
            InvalidTaskBackendError as InvalidTaskBackend,
        )
        from django_tasks.exceptions import (
            InvalidTaskError as InvalidTask,
        )
        from django_tasks.exceptions import (
            TaskResultDoesNotExist,
            TaskResultMismatch,
        )
        from django_tasks.signals import task_enqueued, task_finished, task_started
        from django_tasks.utils import normalize_json
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "django_tasks":
            raise
        raise ModuleNotFoundError(
            f"Django {django.get_version()} has no task framework of its own, and the backport is not "
            "installed. Run: python -m pip install 'django-tasks>=0.12'",
            name="django_tasks",
        ) from missing

if TYPE_CHECKING:
    GenericTask = Task
    GenericTaskContext = TaskContext
    GenericTaskResult = TaskResult
else:
    # What is generic in the type stubs of all versions is so at run time in some only.
    _P = ParamSpec("_P")
    _R = TypeVar("_R")

    class GenericTask(Task, Generic[_P, _R]):
        __slots__ = ()

    class GenericTaskContext(TaskContext, Generic[_P, _R]):
        __slots__ = ()

    class GenericTaskResult(TaskResult, Generic[_P, _R]):
        __slots__ = ()


__all__ = [
    "DEFAULT_TASK_BACKEND_ALIAS",
    "DEFAULT_TASK_PRIORITY",
    "DEFAULT_TASK_QUEUE_NAME",
    "TASK_MAX_PRIORITY",
    "TASK_MIN_PRIORITY",
    "TASK_REFRESH_ATTRS",
    "BaseTaskBackend",
    "GenericTask",
    "GenericTaskContext",
    "GenericTaskResult",
    "InvalidTask",
    "InvalidTaskBackend",
    "Task",
    "TaskContext",
    "TaskError",
    "TaskResult",
    "TaskResultDoesNotExist",
    "TaskResultMismatch",
    "TaskResultStatus",
    "normalize_json",
    "task_backends",
    "task_enqueued",
    "task_finished",
    "task_started",
]
