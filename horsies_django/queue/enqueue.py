"""→ PENDING"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connections
from django.db.transaction import atomic

from ..base import Call, HorsiesTask, without_validation
from ..compat import InvalidTask, TaskResultStatus
from ..conf import get_config
from ..dialects import Enqueued, NewTask, dialect_for
from ..ids import uuid7
from ..models import Task
from ..payload import encode
from ..results import HorsiesTaskResult, result_from_row
from ..retries import milliseconds
from ..states import OPEN
from .arguments import check_fits, check_importable, encode_call

BATCH_SIZE = 2_000
BATCH_CHARACTERS = 8 * 1024 * 1024


def enqueue(
    task: HorsiesTask[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[HorsiesTaskResult[..., Any], bool]:
    """Write one task and return its result and True, or that of the open task with its unique key and False."""
    config = get_config()
    check_importable(task.func, task.takes_context)
    check_fits(task, args, kwargs)
    call = encode_call(task, args, kwargs, config.max_payload_bytes)
    connection = connections[config.database]
    while True:
        task_id = uuid7()
        enqueued = dialect_for(connection).insert(connection, new_task(task), task_id, *call)
        if enqueued is not None:
            return new_result(task, task_id, args, kwargs, enqueued), True
        existing = _open_task_with_key(task, config.database)
        # Nothing there: it ended between the two statements, so the key is free again.
        if existing is not None:
            return existing, False


def enqueue_many(task: HorsiesTask[..., Any], calls: Sequence[Call]) -> list[HorsiesTaskResult[..., Any]]:
    """Write one task for each call, all or none of them, in a few statements."""
    if task.unique_key is not None:
        raise InvalidTask(
            f"enqueue_many() with unique_key={task.unique_key!r} would make one task of all its calls. "
            "Call enqueue() for each, with a key of its own."
        )
    config = get_config()
    check_importable(task.func, task.takes_context)
    rows = []
    for index, (args, kwargs) in enumerate(calls):
        try:
            check_fits(task, args, kwargs)
            rows.append((uuid7(), *encode_call(task, args, kwargs, config.max_payload_bytes)))
        except (TypeError, ValueError) as error:
            raise type(error)(f"Call number {index}: {error}") from None
    connection = connections[config.database]
    dialect, new = dialect_for(connection), new_task(task)
    results: list[HorsiesTaskResult[..., Any]] = []
    with atomic(config.database):
        for batch in _batches(rows):
            enqueued = dialect.insert_many(connection, new, rows[batch])
            for (task_id, *_), (args, kwargs) in zip(rows[batch], calls[batch], strict=True):
                results.append(new_result(task, task_id, args, kwargs, enqueued))
    return results


def _batches(rows: Sequence[tuple[UUID, str, str]]) -> Iterator[slice]:
    """Yield slices of the rows, none with more rows or characters than a statement should have."""
    start = characters = 0
    for index, (_, args, kwargs) in enumerate(rows):
        characters += len(args) + len(kwargs)
        if index - start == BATCH_SIZE or (characters > BATCH_CHARACTERS and index > start):
            yield slice(start, index)
            start, characters = index, len(args) + len(kwargs)
    if rows:
        yield slice(start, len(rows))


def new_task(task: HorsiesTask[..., Any]) -> NewTask:
    """Return the columns that a task type determines."""
    retry = task.retry
    return NewTask(
        name=task.module_path,
        queue_name=task.queue_name,
        backend=task.backend,
        priority=int(task.priority),
        run_after=task.run_after,
        expires=_moment_or_delta(task.expires),
        timeout_ms=milliseconds(task.timeout),
        max_retries=retry.max_retries if retry else 0,
        retry_policy=encode(retry.as_json()) if retry else None,
        idempotent=task.idempotent,
        unique_key=task.unique_key,
    )


def new_result(
    task: HorsiesTask[..., Any], task_id: UUID, args: Any, kwargs: Any, enqueued: Enqueued
) -> HorsiesTaskResult[..., Any]:
    """Return the result of a task that was written a moment ago."""
    if task.run_after is not None:
        task = without_validation(task, run_after=enqueued.run_after)
    return HorsiesTaskResult(
        task=task,
        id=str(task_id),
        status=TaskResultStatus.READY,
        enqueued_at=enqueued.enqueued_at,
        started_at=None,
        finished_at=None,
        last_attempted_at=None,
        args=args,
        kwargs=kwargs,
        backend=task.backend,
        errors=[],
        worker_ids=[],
    )


def _moment_or_delta(expires: float | timedelta | datetime | None) -> datetime | timedelta | None:
    return timedelta(seconds=expires) if isinstance(expires, int | float) else expires


def _open_task_with_key(task: HorsiesTask[..., Any], using: str) -> HorsiesTaskResult[..., Any] | None:
    rows = Task.objects.using(using).filter(name=task.module_path, unique_key=task.unique_key, status__in=OPEN)
    row = rows.first()
    return None if row is None else result_from_row(row)
