"""The statements that both databases share. `{now}` is the database's own clock."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from .rows import Attempt, Claim, Ending, Enqueued, NewTask

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

# What a wait watches: returns True when the caller wants to give up early.
StopAsked = Callable[[], bool]

NEW_TASK_COLUMNS = (
    "id, args, kwargs, name, queue_name, backend, priority, timeout_ms, max_retries, retry_policy, "
    "idempotent, unique_key, run_after, expires_at, enqueued_at"
)
# The only conflict a new task can meet: the constraint horsies_task_unique_key.
UNIQUE_KEY_CONFLICT = "ON CONFLICT DO NOTHING"

DUE = "(run_after IS NULL OR run_after <= {now}) AND (next_retry_at IS NULL OR next_retry_at <= {now})"
NOT_EXPIRED = "(expires_at IS NULL OR expires_at > {now})"
CLAIM_ORDER = "priority DESC, enqueued_at, id"
CLAIMED_COLUMNS = (
    "id, claim_generation, name, args, kwargs, attempt_count, retry_count, max_retries, retry_policy, "
    "priority, enqueued_at"
)

# Walks the claim index from queue to queue, so its cost is one probe a queue and not one a task.
PENDING_QUEUES = """
WITH RECURSIVE queue (name) AS (
    SELECT min(queue_name) FROM horsies_tasks WHERE status = 'PENDING'
    UNION ALL
    SELECT (SELECT min(queue_name) FROM horsies_tasks
            WHERE status = 'PENDING' AND queue_name > queue.name)
    FROM queue WHERE queue.name IS NOT NULL
)
SELECT name FROM queue WHERE name IS NOT NULL
"""

CLAIM_ONE = """
UPDATE horsies_tasks
SET status = 'CLAIMED', claim_generation = claim_generation + 1, claimed_at = {now}, next_retry_at = NULL
WHERE id = %s AND status = 'PENDING' AND {conditions}
RETURNING {columns}
"""

START = """
UPDATE horsies_tasks
SET status = 'RUNNING', started_at = {now}, attempt_count = attempt_count + 1, runner_pid = %s
WHERE id = %s AND status = 'CLAIMED' AND claim_generation = %s AND {not_expired}
RETURNING started_at, attempt_count
"""

FINISH = """
UPDATE horsies_tasks
SET status = %s, finished_at = {now}, result = %s, error_code = %s, error_message = %s, traceback = %s
WHERE id = %s AND status = 'RUNNING' AND claim_generation = %s
RETURNING id, status, awaited
"""

# Who was asked to stop is not tried again.
RETRY = """
UPDATE horsies_tasks
SET status = CASE WHEN cancel_requested_at IS NULL THEN 'PENDING' ELSE 'CANCELLED' END,
    finished_at = CASE WHEN cancel_requested_at IS NULL THEN NULL ELSE {now} END,
    next_retry_at = CASE WHEN cancel_requested_at IS NULL THEN {later} END,
    retry_count = retry_count + CASE WHEN cancel_requested_at IS NULL THEN 1 ELSE 0 END,
    error_code = CASE WHEN cancel_requested_at IS NULL THEN error_code ELSE 'TASK_CANCELLED' END,
    error_message = CASE WHEN cancel_requested_at IS NULL THEN error_message ELSE 'Failed when asked to stop.' END,
    worker_id = CASE WHEN cancel_requested_at IS NULL THEN NULL ELSE worker_id END,
    runner_pid = CASE WHEN cancel_requested_at IS NULL THEN NULL ELSE runner_pid END,
    claimed_at = CASE WHEN cancel_requested_at IS NULL THEN NULL ELSE claimed_at END,
    started_at = CASE WHEN cancel_requested_at IS NULL THEN NULL ELSE started_at END
WHERE id = %s AND status = 'RUNNING' AND claim_generation = %s
RETURNING id, status, awaited
"""

ATTEMPT_COLUMNS = (
    "task_id, number, claim_generation, worker_id, runner_pid, started_at, outcome, error_code, "
    "error_message, exception_class, traceback, will_retry, finished_at"
)

# A task that runs is only asked to stop; one that does not is stopped here and now.
CANCEL = """
UPDATE horsies_tasks
SET status = CASE status WHEN 'RUNNING' THEN 'RUNNING' ELSE 'CANCELLED' END,
    cancel_requested_at = coalesce(cancel_requested_at, {now}),
    finished_at = CASE status WHEN 'RUNNING' THEN NULL ELSE {now} END,
    error_code = CASE status WHEN 'RUNNING' THEN error_code ELSE 'TASK_CANCELLED' END,
    error_message = CASE status WHEN 'RUNNING' THEN error_message ELSE %s END
WHERE id = %s AND status IN ('PENDING', 'CLAIMED', 'RUNNING')
RETURNING id, status, awaited
"""

SET_PROGRESS = """
UPDATE horsies_tasks SET progress = %s WHERE id = %s AND status = 'RUNNING' AND claim_generation = %s
"""


class Dialect(ABC):
    """One database's way of speaking. Holds no state; every method is told which connection to use."""

    now: str
    # While one connection is in a transaction, no other can write.
    transactions_shut_others_out: bool
    # Its clock may differ from that of this host.
    has_clock_of_its_own: bool

    def __init__(self) -> None:
        not_expired = NOT_EXPIRED.format(now=self.now)
        self.due = DUE.format(now=self.now)
        self.not_expired = not_expired
        self.claim_one_sql = CLAIM_ONE.format(
            now=self.now, conditions=f"{self.due} AND {not_expired}", columns=CLAIMED_COLUMNS
        )
        self.start_sql = START.format(now=self.now, not_expired=not_expired)
        self.finish_sql = FINISH.format(now=self.now)
        self.retry_sql = RETRY.format(now=self.now, later=self.later)
        self.cancel_sql = CANCEL.format(now=self.now)

    # The differences

    @property
    @abstractmethod
    def later(self) -> str:
        """The database's clock plus a duration, which is the one parameter of this SQL."""

    @abstractmethod
    def duration(self, duration: timedelta) -> Any:
        """Return the parameter for `later`."""

    @abstractmethod
    def uuid(self, value: UUID | None) -> Any:
        """Return a UUID as a parameter."""

    @abstractmethod
    def moment(self, connection: BaseDatabaseWrapper, raw: Any) -> datetime | None:
        """Return a datetime that the database sent as Django would."""

    @abstractmethod
    def insert(
        self, connection: BaseDatabaseWrapper, task: NewTask, task_id: UUID, args: str, kwargs: str
    ) -> Enqueued | None:
        """Write a new task; None if its unique key is taken."""

    @abstractmethod
    def insert_many(
        self, connection: BaseDatabaseWrapper, task: NewTask, calls: Sequence[tuple[UUID, str, str]]
    ) -> Enqueued:
        """Write many new tasks that differ in their arguments only."""

    @abstractmethod
    def claim(
        self,
        connection: BaseDatabaseWrapper,
        *,
        queues: Sequence[str],
        limit: int,
        worker_id: UUID | None,
        due_only: bool = True,
    ) -> list[Claim]:
        """Claim up to `limit` tasks of these queues, by priority and then by age."""

    @abstractmethod
    def finish(self, connection: BaseDatabaseWrapper, claim: Claim, ending: Ending) -> str | None:
        """Take a task out of RUNNING, record the attempt and return the status; None if the fence refused it."""

    @abstractmethod
    def wait_for_ending(
        self, connection: BaseDatabaseWrapper, task_id: UUID, timeout: float | None, stop: StopAsked
    ) -> bool | None:
        """Wait, on a connection of its own, for a task to end; None if there is no such task to be seen."""

    @abstractmethod
    def too_old(self, connection: BaseDatabaseWrapper) -> str | None:
        """Return the name and version of a database that is too old for us."""

    # What is the same

    def current_time(self, connection: BaseDatabaseWrapper) -> datetime:
        """Return what the database's clock says."""
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {self.now}", [])
            now = self.moment(connection, cursor.fetchone()[0])
        assert now is not None
        return now

    def pending_queues(self, connection: BaseDatabaseWrapper) -> list[str]:
        """Return the names of the queues that have tasks waiting."""
        with connection.cursor() as cursor:
            cursor.execute(PENDING_QUEUES)
            return [name for (name,) in cursor.fetchall()]

    def claim_one(self, connection: BaseDatabaseWrapper, task_id: UUID) -> Claim | None:
        """Claim this very task, if it is due and nobody else has it."""
        with connection.cursor() as cursor:
            cursor.execute(self.claim_one_sql, [self.uuid(task_id)])
            claims = self.claims(cursor.fetchall(), None)
        return claims[0] if claims else None

    def start(self, connection: BaseDatabaseWrapper, claim: Claim, runner_pid: int) -> tuple[datetime, int] | None:
        """Make a claimed task RUNNING; None if the claim no longer holds."""
        with connection.cursor() as cursor:
            cursor.execute(self.start_sql, [runner_pid, self.uuid(claim.task_id), claim.generation])
            row = cursor.fetchone()
        if row is None:
            return None
        started_at = self.moment(connection, row[0])
        assert started_at is not None
        return started_at, row[1]

    def cancel(self, connection: BaseDatabaseWrapper, task_id: UUID, reason: str) -> str | None:
        """Cancel a task or ask it to stop; its status now, or None if it had ended already."""
        with connection.cursor() as cursor:
            cursor.execute(self.cancel_sql, [reason, self.uuid(task_id)])
            row = cursor.fetchone()
        return row[1] if row else None

    def set_progress(self, connection: BaseDatabaseWrapper, claim: Claim, progress: str) -> None:
        """Keep how far a running task is."""
        with connection.cursor() as cursor:
            cursor.execute(SET_PROGRESS, [progress, self.uuid(claim.task_id), claim.generation])

    # For the subclasses

    def new_task_values(self, connection: BaseDatabaseWrapper, task: NewTask) -> tuple[str, list[Any]]:
        """Return the SQL for what all tasks of one enqueueing share, and its parameters."""
        run_after, run_after_values = self.when(connection, task.run_after)
        expires, expires_values = self.when(connection, task.expires)
        sql = f"{', '.join(['%s'] * 9)}, {run_after}, {expires}, {self.now}"
        values = [
            task.name,
            task.queue_name,
            task.backend,
            task.priority,
            task.timeout_ms,
            task.max_retries,
            task.retry_policy,
            task.idempotent,
            task.unique_key,
        ]
        return sql, [*values, *run_after_values, *expires_values]

    def finish_statement(self, claim: Claim, ending: Ending) -> tuple[str, list[Any]]:
        """Return the conditional UPDATE that takes a task out of RUNNING."""
        fence = [self.uuid(claim.task_id), claim.generation]
        if ending.retry_delay is not None:
            return self.retry_sql, [self.duration(ending.retry_delay), *fence]
        attempt = ending.attempt
        errors = [attempt.error_code, attempt.error_message, attempt.traceback]
        return self.finish_sql, [ending.status, ending.result, *errors, *fence]

    def claim_values(self, connection: BaseDatabaseWrapper, claim: Claim) -> list[Any]:
        """Return the part of an attempt's row that its claim determines."""
        started_at = claim.started_at
        return [
            self.uuid(claim.task_id),
            claim.attempt_count,
            claim.generation,
            self.uuid(claim.worker_id),
            claim.runner_pid,
            started_at and connection.ops.adapt_datetimefield_value(started_at),
        ]

    def when(self, connection: BaseDatabaseWrapper, when: datetime | timedelta | None) -> tuple[str, list[Any]]:
        """Return a moment, or a duration from now, as SQL and its parameters."""
        if when is None:
            return "NULL", []
        if isinstance(when, timedelta):
            return self.later, [self.duration(when)]
        return "%s", [connection.ops.adapt_datetimefield_value(when)]

    def enqueued(self, connection: BaseDatabaseWrapper, row: Sequence[Any]) -> Enqueued:
        """Return the moments of a new task from what the database sent back."""
        enqueued_at = self.moment(connection, row[0])
        assert enqueued_at is not None
        return Enqueued(enqueued_at, self.moment(connection, row[1]))

    def claims(self, rows: Iterable[Sequence[Any]], worker_id: UUID | None) -> list[Claim]:
        """Return claimed rows, which an UPDATE sends in no order, by priority and then by age."""
        return [
            Claim(
                task_id=row[0] if isinstance(row[0], UUID) else UUID(row[0]),
                generation=row[1],
                name=row[2],
                args=json.loads(row[3]),
                kwargs=json.loads(row[4]),
                attempt_count=row[5],
                retry_count=row[6],
                max_retries=row[7],
                retry_policy=row[8] and json.loads(row[8]),
                worker_id=worker_id,
            )
            for row in sorted(rows, key=lambda row: (-row[9], row[10], row[0]))
        ]


def attempt_values(attempt: Attempt) -> list[Any]:
    """Return the part of an attempt's row that its outcome determines."""
    return [
        attempt.outcome,
        attempt.error_code,
        attempt.error_message,
        attempt.exception_class,
        attempt.traceback,
        attempt.will_retry,
    ]


def rejected(attempt: Attempt) -> Attempt:
    """Return the record of an attempt whose end came too late to count."""
    return Attempt(
        outcome="REJECTED",
        error_code=attempt.error_code,
        error_message=f"{attempt.outcome} came too late: this claim no longer held the task. "
        f"{attempt.error_message}".rstrip(),
        exception_class=attempt.exception_class,
        traceback=attempt.traceback,
    )
