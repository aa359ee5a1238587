"""What makes a task type one that can be enqueued and run."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from inspect import isasyncgenfunction, isfunction, isgeneratorfunction
from math import isnan
from typing import Any

from django.conf import settings
from django.utils import timezone

from .base import HorsiesTask
from .compat import TASK_MAX_PRIORITY, TASK_MIN_PRIORITY
from .limits import (
    MAX_BACKEND_LENGTH,
    MAX_DAYS_AHEAD,
    MAX_NAME_LENGTH,
    MAX_QUEUE_NAME_LENGTH,
    MAX_TIMEOUT_SECONDS,
    MAX_UNIQUE_KEY_LENGTH,
)
from .problems import nearest_name
from .retries import RetryPolicy

FARTHEST = timedelta(days=MAX_DAYS_AHEAD)
EARLIEST_YEAR = 1970
AnyTask = HorsiesTask[..., Any]


def function_complaints(task: AnyTask) -> Iterator[str]:
    """Yield why a worker in another process could not find the function."""
    function = task.func
    if not isfunction(function) or "." in function.__qualname__ or function.__name__ == "<lambda>":
        yield (
            "Task function must be defined at a module level. A lambda, a method or a function inside another "
            f"cannot be found by a worker: {function!r}. Move it to the top of a module and decorate it there."
        )
    elif isgeneratorfunction(function) or isasyncgenfunction(function):
        yield f"{function.__name__} is a generator, and nobody would take what it yields. Return a list instead."
    elif function.__module__ == "__main__":
        yield (
            "Task function must be defined at a module level of a module that workers can import, and "
            f"'__main__' is another module in each process. Move {function.__name__} to a tasks.py."
        )
    elif len(task.module_path) > MAX_NAME_LENGTH:
        yield f"The path {task.module_path!r} is longer than {MAX_NAME_LENGTH} characters."


def base_complaints(task: AnyTask, queues: Collection[str]) -> Iterator[str]:
    """Yield what is wrong with the options that every backend of Django has."""
    priority: Any = task.priority
    if isinstance(priority, bool) or not isinstance(priority, int | float) or _is_nan(priority):
        yield (
            f"priority must be a whole number between {TASK_MIN_PRIORITY} and {TASK_MAX_PRIORITY}. It is {priority!r}."
        )
    elif not TASK_MIN_PRIORITY <= priority <= TASK_MAX_PRIORITY or int(priority) != priority:
        nearest = round(min(max(priority, TASK_MIN_PRIORITY), TASK_MAX_PRIORITY))
        yield (
            f"priority must be a whole number between {TASK_MIN_PRIORITY} and {TASK_MAX_PRIORITY}. "
            f"It is {priority!r}; the nearest valid one is {nearest}."
        )
    if len(task.backend) > MAX_BACKEND_LENGTH:
        yield f"The alias {task.backend!r} in TASKS is longer than {MAX_BACKEND_LENGTH} characters."
    yield from _queue_complaints(task.queue_name, queues)
    yield from _run_after_complaints(task.run_after)


def option_complaints(task: AnyTask) -> Iterator[str]:
    """Yield what is wrong with the options of horsies."""
    if task.retry is not None and not isinstance(task.retry, RetryPolicy):
        yield (
            f"retry must be a RetryPolicy, not {task.retry!r}. Use RetryPolicy.exponential() or RetryPolicy.fixed()."
        )
    yield from _timeout_complaints(task.timeout)
    yield from _expires_complaints(task)
    yield from _unique_key_complaints(task.unique_key)
    if not isinstance(task.idempotent, bool):
        yield f"idempotent must be True or False, not {task.idempotent!r}."


def _is_nan(number: Any) -> bool:
    return isinstance(number, float) and isnan(number)


def _queue_complaints(name: Any, queues: Collection[str]) -> Iterator[str]:
    if not isinstance(name, str) or not name or len(name) > MAX_QUEUE_NAME_LENGTH:
        yield f"Queue {name!r} is not valid for backend. A name has 1 to {MAX_QUEUE_NAME_LENGTH} characters."
    elif any(character in ",*" or character.isspace() or not character.isprintable() for character in name):
        yield f"Queue {name!r} is not valid for backend. A name has no space, no comma and no '*'."
    elif queues and name not in queues:
        nearest = nearest_name(name, queues)
        advice = f"Did you mean {nearest!r}?" if nearest else f"It knows {', '.join(sorted(queues))}."
        yield (
            f"Queue '{name}' is not valid for backend. {advice} Otherwise add {name!r} to the QUEUES of this backend "
            "in TASKS, or set QUEUES to [] to take any name."
        )


def _run_after_complaints(run_after: Any) -> Iterator[str]:
    if run_after is None:
        return
    if isinstance(run_after, timedelta):
        if not timedelta(0) <= run_after <= FARTHEST:
            yield f"run_after must be from 0 to {MAX_DAYS_AHEAD:,} days ahead, not {run_after!r}."
    elif not isinstance(run_after, datetime):
        yield f"run_after must be an aware datetime. A timedelta will do too, but not {run_after!r}."
    else:
        yield from _moment_complaints("run_after", run_after)


def _moment_complaints(option: str, moment: datetime) -> Iterator[str]:
    naive = list(_naive_complaint(option, moment))
    if naive:
        yield naive[0]
    elif not EARLIEST_YEAR <= moment.year <= timezone.now().year + MAX_DAYS_AHEAD // 365:
        yield f"{option} must be a moment that can be meant, not one in the year {moment.year}."


def _naive_complaint(option: str, moment: datetime) -> Iterator[str]:
    if settings.USE_TZ and timezone.is_naive(moment):
        yield (
            f"{option} must be an aware datetime. {moment!r} has no time zone; use django.utils.timezone.now() "
            "or timezone.make_aware()."
        )
    elif not settings.USE_TZ and timezone.is_aware(moment):
        yield f"{option} must be a naive datetime, because USE_TZ is False: {moment!r}."


def _timeout_complaints(timeout: Any) -> Iterator[str]:
    if timeout is None:
        return
    seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else timeout
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        yield f"timeout must be seconds or a timedelta, not {timeout!r}."
    elif not 0.001 <= seconds <= MAX_TIMEOUT_SECONDS:
        yield f"timeout must be more than 0 s and at most {MAX_TIMEOUT_SECONDS:,} s, not {timeout!r}."


def _expires_complaints(task: AnyTask) -> Iterator[str]:
    expires = task.expires
    if expires is None:
        return
    complaints = list(_duration_or_moment_complaints(expires))
    if complaints:
        yield complaints[0]
        return
    if list(_run_after_complaints(task.run_after)):
        return  # told already
    now = timezone.now()
    if _moment(expires, now) <= now:
        yield f"expires must be in the future, not {expires!r}: the task could never run."
    elif task.run_after is not None and _moment(expires, now) <= _moment(task.run_after, now):
        yield f"expires ({expires!r}) is not after run_after ({task.run_after!r}): the task could never run."


def _duration_or_moment_complaints(expires: Any) -> Iterator[str]:
    if isinstance(expires, datetime):
        yield from _moment_complaints("expires", expires)
    elif isinstance(expires, bool) or not isinstance(expires, int | float | timedelta):
        yield f"expires must be seconds, a timedelta or an aware datetime, not {expires!r}."
    elif not 0 < _total_seconds(expires) <= FARTHEST.total_seconds():
        yield f"expires must be in the future and at most {MAX_DAYS_AHEAD:,} days ahead, not {expires!r}."


def _total_seconds(duration: float | timedelta) -> float:
    return duration.total_seconds() if isinstance(duration, timedelta) else duration


def _moment(when: float | timedelta | datetime, now: datetime) -> datetime:
    return when if isinstance(when, datetime) else now + timedelta(seconds=_total_seconds(when))


def _unique_key_complaints(unique_key: Any) -> Iterator[str]:
    if unique_key is None:
        return
    if not isinstance(unique_key, str):
        yield f"unique_key must be a str, not {unique_key!r}. Use str({unique_key!r})."
    elif not unique_key or "\0" in unique_key or not unique_key.isprintable():
        yield f"unique_key must be a text of at least one character, all of them printable, not {unique_key!r}."
    elif len(unique_key) > MAX_UNIQUE_KEY_LENGTH:
        yield (
            f"unique_key is too long: {len(unique_key)} characters, at most {MAX_UNIQUE_KEY_LENGTH}. "
            "Use a digest of it, such as hashlib.sha256(key.encode()).hexdigest()."
        )
