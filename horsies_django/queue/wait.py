"""Waiting for a task to end."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db import connections

from ..conf import get_config
from ..dialects import dialect_for
from ..exceptions import TaskNotFinished, WaitInsideTransaction
from ..results import HorsiesTaskResult

AnyResult = HorsiesTaskResult[..., Any]


def wait(result: AnyResult, timeout: float | timedelta | None) -> None:
    """Return when a task has ended, with its result refreshed; TaskNotFinished if that takes too long."""
    timeout = _seconds(timeout)
    result.refresh()
    if result.is_finished:
        return
    _refuse_pointless_wait(result)
    seen = _watch(result.id, timeout, threading.Event())
    result.refresh()
    _conclude(result, seen, timeout)


async def await_finished(result: AnyResult, timeout: float | timedelta | None) -> None:
    """Do what `wait()` does, without blocking the event loop."""
    timeout = _seconds(timeout)
    await result.arefresh()
    if result.is_finished:
        return
    await sync_to_async(_refuse_pointless_wait, thread_sensitive=True)(result)
    given_up = threading.Event()
    # In a thread of its own: those of the event loop are few, and others need them.
    executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="horsies-wait")
    watch = sync_to_async(_watch, thread_sensitive=False, executor=executor)
    try:
        seen = await watch(result.id, timeout, given_up)
    finally:
        given_up.set()
        executor.shutdown(wait=False)
    await result.arefresh()
    _conclude(result, seen, timeout)


def _watch(task_id: str, timeout: float | None, given_up: threading.Event) -> bool | None:
    """Wait on a connection of its own; None if the task is not to be seen from there."""
    connection = connections[get_config().database]
    return dialect_for(connection).wait_for_ending(connection, UUID(task_id), timeout, given_up.is_set)


def _refuse_pointless_wait(result: AnyResult) -> None:
    connection = connections[get_config().database]
    if connection.in_atomic_block and dialect_for(connection).transactions_shut_others_out:
        raise WaitInsideTransaction(
            f"Waiting for task {result.id} inside a transaction would never end: on this database an open transaction "
            "keeps every worker from writing. Wait after the atomic block, or, in a test, call "
            "horsies_django.testing.drain() first."
        )


def _conclude(result: AnyResult, seen: bool | None, timeout: float | None) -> None:
    if result.is_finished:
        return
    if seen is True:
        raise WaitInsideTransaction(
            f"Task {result.id} has ended, but this transaction began before that and keeps to what it saw then "
            "(REPEATABLE READ or SERIALIZABLE). Look at the result after the atomic block."
        )
    if seen is None:
        raise WaitInsideTransaction(
            f"Waiting for task {result.id} inside the transaction that enqueued it would never end: no worker can take "
            "the task before that transaction is over. Wait after the atomic block, or, in a test, call "
            "horsies_django.testing.drain() first."
        )
    raise TaskNotFinished(
        f"Task {result.id} ({result.task.module_path}) has not ended within {timeout} s: it is {result.status} "
        f"in queue {result.task.queue_name!r}. {_likely_reason()}"
    )


def _likely_reason() -> str:
    if connections[get_config().database].in_atomic_block:
        return "If the transaction you are in has changed the task, it cannot end before that is over."
    return "Is a worker running for that queue?"


def _seconds(timeout: float | timedelta | None) -> float | None:
    seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else timeout
    if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, int | float)):
        raise TypeError(f"timeout must be seconds, a timedelta or None, not {timeout!r}.")
    return seconds
