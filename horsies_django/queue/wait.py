"""Waiting for a task to end."""

from __future__ import annotations

import threading
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db import connections

from ..conf import get_config
from ..dialects import dialect_for
from ..exceptions import TaskNotFinished, WaitInsideTransaction
from ..results import HorsiesTaskResult

AnyResult = HorsiesTaskResult[..., Any]


def wait(result: AnyResult, timeout: float | None) -> None:
    """Return when a task has ended, with its result refreshed; TaskNotFinished if that takes too long."""
    result.refresh()
    if result.is_finished:
        return
    _refuse_pointless_wait(result)
    seen = _watch(result.id, timeout, threading.Event())
    result.refresh()
    _conclude(result, seen, timeout)


async def await_finished(result: AnyResult, timeout: float | None) -> None:
    """Do what `wait()` does, without blocking the event loop."""
    await result.arefresh()
    if result.is_finished:
        return
    await sync_to_async(_refuse_pointless_wait, thread_sensitive=True)(result)
    given_up = threading.Event()
    try:
        # In a thread of its own, so that no other code waits for it.
        seen = await sync_to_async(_watch, thread_sensitive=False)(result.id, timeout, given_up)
    finally:
        given_up.set()
    await result.arefresh()
    _conclude(result, seen, timeout)


def _watch(task_id: str, timeout: float | None, given_up: threading.Event) -> bool | None:
    """Wait on a connection of its own; None if the task is not to be seen from there."""
    connection = connections[get_config().database]
    return dialect_for(connection).wait_for_ending(connection, UUID(task_id), timeout, given_up.is_set)


def _refuse_pointless_wait(result: AnyResult) -> None:
    connection = connections[get_config().database]
    if connection.in_atomic_block and dialect_for(connection).transactions_shut_others_out:
        raise _inside_transaction(result)


def _conclude(result: AnyResult, seen: bool | None, timeout: float | None) -> None:
    if result.is_finished:
        return
    if seen is None:
        raise _inside_transaction(result)
    raise TaskNotFinished(
        f"Task {result.id} ({result.task.module_path}) has not ended within {timeout} s: it is {result.status} "
        f"in queue {result.task.queue_name!r}. Is a horsies_worker running for that queue?"
    )


def _inside_transaction(result: AnyResult) -> WaitInsideTransaction:
    return WaitInsideTransaction(
        f"Waiting for task {result.id} inside the transaction that enqueued it would never end: no worker can "
        "take the task before that transaction is over. Wait after the atomic block, or, in a test, call "
        "horsies_django.testing.drain() first."
    )
