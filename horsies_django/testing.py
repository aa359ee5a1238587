"""For the test suites of projects that use horsies: run tasks here and now, and ask what was enqueued.

Everything goes through the same claims, starts and endings as in a worker, on the connection of the
test, so it also works inside the transaction of a TestCase.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar
from uuid import UUID

from django.db import DatabaseError, connections

from .backend import HorsiesBackend
from .base import HorsiesTask
from .compat import task_enqueued
from .conf import get_config
from .dialects import Claim
from .execution.perform import perform
from .models import Task
from .models.querysets import TaskQuerySet
from .queue.arguments import check_fits, named_arguments
from .queue.claim import claim, claim_one
from .results import HorsiesTaskResult, get_result, result_from_row

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

__all__ = ["assert_enqueued", "drain", "enqueued", "inline", "run_next"]

P = ParamSpec("P")
R = TypeVar("R")
AnyResult = HorsiesTaskResult[..., Any]
AnyTask = HorsiesTask[..., Any]


def run_next(*, queue_name: str | None = None, include_deferred: bool = False) -> AnyResult | None:
    """Run the task a worker would run next and return its result; None if none is due.

    With `include_deferred` the time of `run_after` and of retries counts as come.
    """
    connection = _connection()
    queues = None if queue_name is None else [queue_name]
    claims = claim(connection, queues=queues, due_only=not include_deferred)
    return _perform(connection, claims[0]) if claims else None


def drain(*, queue_name: str | None = None, include_deferred: bool = False, limit: int = 1_000) -> list[AnyResult]:
    """Run tasks until none is due, those too that tasks enqueue, and return the result of each run."""
    results: list[AnyResult] = []
    while (result := run_next(queue_name=queue_name, include_deferred=include_deferred)) is not None:
        results.append(result)
        if len(results) == limit and _more_to_run(queue_name, include_deferred):
            raise AssertionError(
                f"drain() has run {limit} tasks and some are still waiting: does {result.task.module_path} enqueue "
                "itself? Give a higher limit= if this is meant."
            )
    return results


@contextmanager
def inline() -> Iterator[None]:
    """Run every task as soon as it is enqueued, unless it is deferred; its result comes back finished."""

    def run_at_once(sender: type, task_result: AnyResult, **kwargs: Any) -> None:
        if not issubclass(sender, HorsiesBackend):
            return
        connection = _connection()
        claimed = claim_one(connection, UUID(task_result.id))
        if claimed is not None:
            _perform(connection, claimed)
            task_result.refresh()

    task_enqueued.connect(run_at_once, weak=False)
    try:
        yield
    finally:
        task_enqueued.disconnect(run_at_once)


def enqueued(task: AnyTask | None = None) -> list[AnyResult]:
    """Return the results of all tasks in the database, or of those of one type, oldest first."""
    rows = _tasks().order_by("enqueued_at", "pk")
    if task is not None:
        rows = rows.filter(name=task.module_path)
    return [result_from_row(row) for row in rows]


def assert_enqueued(task: HorsiesTask[P, R], /, *args: P.args, **kwargs: P.kwargs) -> AnyResult:
    """Return the newest task of this type with just these arguments; AssertionError if there is none."""
    check_fits(task, args, kwargs)
    wanted = named_arguments(task, args, kwargs)
    candidates = enqueued(task)
    for result in reversed(candidates):
        if named_arguments(task, result.args, result.kwargs) == wanted:
            return result
    raise AssertionError(_not_enqueued(task, wanted, candidates))


def _connection() -> BaseDatabaseWrapper:
    return connections[get_config().database]


def _tasks() -> TaskQuerySet:
    return Task.objects.using(get_config().database)


def _more_to_run(queue_name: str | None, include_deferred: bool) -> bool:
    tasks = _tasks().filter(status="PENDING") if include_deferred else _tasks().due()
    return (tasks if queue_name is None else tasks.filter(queue_name=queue_name)).exists()


def _perform(connection: BaseDatabaseWrapper, claimed: Claim) -> AnyResult:
    perform(connection, claimed, around_user_code=_unbroken_transactions())
    return get_result(str(claimed.task_id), connection.alias)


@contextmanager
def _unbroken_transactions() -> Iterator[None]:
    """Give the test its transactions back if the task ran into a database error.

    A worker has a connection of its own for the state of tasks; here it is the one user code has.
    """
    open_ones = [connection for connection in connections.all() if connection.in_atomic_block]
    savepoints = [
        (connection, connection.savepoint() or "", list(connection.run_on_commit)) for connection in open_ones
    ]
    yield
    for connection, savepoint, run_on_commit in savepoints:
        if _is_broken(connection):
            connection.needs_rollback = False
            connection.savepoint_rollback(savepoint)
            connection.run_on_commit = run_on_commit
        else:
            connection.savepoint_commit(savepoint)


def _is_broken(connection: BaseDatabaseWrapper) -> bool:
    if connection.needs_rollback:
        return True
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return True
    return False


def _shown(arguments: dict[str, Any]) -> str:
    return "(" + ", ".join(f"{name}={value!r}" for name, value in arguments.items()) + ")"


def _not_enqueued(task: AnyTask, wanted: dict[str, Any], candidates: list[AnyResult]) -> str:
    lines = [f"{task.module_path} was not enqueued with {_shown(wanted)}."]
    if candidates:
        lines.append("It was enqueued with:")
        lines += [f"  {_shown(named_arguments(task, found.args, found.kwargs))}" for found in candidates]
    else:
        others = sorted({found.task.module_path for found in enqueued()})
        lines.append(f"Enqueued were: {', '.join(others)}." if others else "No task was enqueued at all.")
    return "\n".join(lines)
