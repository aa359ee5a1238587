"""PostgreSQL 14 and newer, through psycopg 3."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import DatabaseError, connections

from .base import (
    ATTEMPT_COLUMNS,
    CLAIM_ORDER,
    CLAIMED_COLUMNS,
    NEW_TASK_COLUMNS,
    UNIQUE_KEY_CONFLICT,
    Dialect,
    StopAsked,
    attempt_values,
    rejected,
)
from .rows import Claim, Ending, Enqueued, NewTask

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

ENQUEUED_CHANNEL = "horsies_enqueued"
FINISHED_CHANNEL = "horsies_finished"
# A notification can be lost; a look at the row once in a while cannot.
POLL_SECONDS = 1.0
POLL_UNMARKED_SECONDS = 0.1
OLDEST_VERSION = 14_00_00

# PostgreSQL sends equal notifications of one transaction once, when it commits.
INSERT = f"""
INSERT INTO horsies_tasks ({NEW_TASK_COLUMNS}) VALUES (%s, %s::jsonb, %s::jsonb, {{values}}) {{conflict}}
RETURNING enqueued_at, run_after, pg_notify('{ENQUEUED_CHANNEL}', queue_name)
"""

INSERT_MANY = f"""
WITH inserted AS (
    INSERT INTO horsies_tasks ({NEW_TASK_COLUMNS})
    SELECT call.id, call.args::jsonb, call.kwargs::jsonb, {{values}}
    FROM unnest(%s::uuid[], %s::text[], %s::text[]) AS call (id, args, kwargs)
    RETURNING enqueued_at, run_after, queue_name
)
SELECT min(enqueued_at), min(run_after), pg_notify('{ENQUEUED_CHANNEL}', min(queue_name)) FROM inserted
"""

# One ordered probe of the claim index a queue. The CTE keeps the planner from running it twice,
# and the outer test of the state holds even where a row changed between the two.
CLAIM = f"""
WITH candidate AS MATERIALIZED (
    SELECT ready.id
    FROM unnest(%s::text[]) AS queue (name)
    CROSS JOIN LATERAL (
        SELECT id, priority, enqueued_at FROM horsies_tasks
        WHERE status = 'PENDING' AND queue_name = queue.name AND {{conditions}}
        ORDER BY {CLAIM_ORDER} LIMIT %s
        FOR UPDATE SKIP LOCKED
    ) AS ready
    ORDER BY {CLAIM_ORDER} LIMIT %s
)
UPDATE horsies_tasks AS task
SET status = 'CLAIMED', claim_generation = task.claim_generation + 1, claimed_at = statement_timestamp(),
    worker_id = %s, next_retry_at = NULL
FROM candidate
WHERE task.id = candidate.id AND task.status = 'PENDING'
RETURNING {", ".join("task." + column for column in CLAIMED_COLUMNS.split(", "))}
"""

# One statement: the task leaves RUNNING and its attempt is recorded, or, where the fence refuses the
# first, the attempt is recorded as refused.
FINISH = f"""
WITH ended AS ({{end}}),
recorded AS (
    INSERT INTO horsies_task_attempts ({ATTEMPT_COLUMNS})
    SELECT %s::uuid, %s, %s, %s::uuid, %s, %s::timestamptz, outcome, code, message, exception, traceback,
        will_retry AND EXISTS (SELECT FROM ended WHERE status = 'PENDING'), statement_timestamp()
    FROM (VALUES (true, %s, %s, %s, %s, %s, %s), (false, %s, %s, %s, %s, %s, %s))
        AS attempt (accepted, outcome, code, message, exception, traceback, will_retry)
    WHERE accepted = EXISTS (SELECT FROM ended)
)
{{announce}}
"""

ANNOUNCE = f"""
SELECT id, status, CASE WHEN awaited AND status IN ('COMPLETED', 'FAILED', 'CANCELLED', 'EXPIRED')
    THEN pg_notify('{FINISHED_CHANNEL}', id::text) END
FROM ended
"""


class PostgreSQL(Dialect):
    transactions_shut_others_out = False
    has_clock_of_its_own = True
    now = "statement_timestamp()"
    later = "(statement_timestamp() + %s::interval)"

    def __init__(self) -> None:
        super().__init__()
        self.cancel_sql = f"WITH ended AS ({self.cancel_sql}) {ANNOUNCE}"

    def duration(self, duration: timedelta) -> Any:
        return duration

    def uuid(self, value: UUID | None) -> Any:
        return value

    def moment(self, connection: BaseDatabaseWrapper, raw: Any) -> datetime | None:
        moment: datetime | None = raw
        return moment

    def insert(
        self, connection: BaseDatabaseWrapper, task: NewTask, task_id: UUID, args: str, kwargs: str
    ) -> Enqueued | None:
        shared, values = self.new_task_values(connection, task)
        sql = INSERT.format(values=shared, conflict=UNIQUE_KEY_CONFLICT if task.unique_key else "")
        with connection.cursor() as cursor:
            cursor.execute(sql, [task_id, args, kwargs, *values])
            row = cursor.fetchone()
        return row and self.enqueued(connection, row)

    def insert_many(
        self, connection: BaseDatabaseWrapper, task: NewTask, calls: Sequence[tuple[UUID, str, str]]
    ) -> Enqueued:
        shared, values = self.new_task_values(connection, task)
        ids, args, kwargs = (list(column) for column in zip(*calls, strict=True))
        with connection.cursor() as cursor:
            cursor.execute(INSERT_MANY.format(values=shared), [*values, ids, args, kwargs])
            return self.enqueued(connection, cursor.fetchone())

    def claim(
        self,
        connection: BaseDatabaseWrapper,
        *,
        queues: Sequence[str],
        limit: int,
        worker_id: UUID | None,
        due_only: bool = True,
    ) -> list[Claim]:
        conditions = f"{self.due} AND {self.not_expired}" if due_only else self.not_expired
        with connection.cursor() as cursor:
            cursor.execute(CLAIM.format(conditions=conditions), [list(queues), limit, limit, worker_id])
            return self.claims(cursor.fetchall(), worker_id)

    def finish(self, connection: BaseDatabaseWrapper, claim: Claim, ending: Ending) -> str | None:
        end, values = self.finish_statement(claim, ending)
        accepted, refused = attempt_values(ending.attempt), attempt_values(rejected(ending.attempt))
        with connection.cursor() as cursor:
            cursor.execute(
                FINISH.format(end=end, announce=ANNOUNCE),
                [*values, *self.claim_values(connection, claim), *accepted, *refused],
            )
            row = cursor.fetchone()
        return row[1] if row else None

    def wait_for_ending(
        self, connection: BaseDatabaseWrapper, task_id: UUID, timeout: float | None, stop: StopAsked
    ) -> bool | None:
        deadline = None if timeout is None else time.monotonic() + timeout
        with listening(connection.alias, FINISHED_CHANNEL) as listener:
            marked = False
            while not stop():
                # Once the task is marked, its end is announced, to us who listen already.
                marked = marked or _mark_awaited(listener, task_id)
                ended = _has_ended(listener, task_id)
                poll = POLL_SECONDS if marked else POLL_UNMARKED_SECONDS
                left = poll if deadline is None else min(deadline - time.monotonic(), poll)
                if ended is not False or left <= 0:
                    return ended
                _listen(listener, str(task_id), left)
        return False

    def too_old(self, connection: BaseDatabaseWrapper) -> str | None:
        connection.ensure_connection()
        version = connection.connection.info.server_version
        return f"PostgreSQL {version // 10_000}" if version < OLDEST_VERSION else None


@contextmanager
def listening(alias: str, channel: str) -> Iterator[BaseDatabaseWrapper]:
    """Yield a connection of its own that hears a channel."""
    with closing(connections.create_connection(alias)) as listener:
        listener.ensure_connection()
        listener.set_autocommit(True)
        with listener.cursor() as cursor:
            cursor.execute(f"LISTEN {channel}")
        try:
            yield listener
        finally:
            # The connection may go back to a pool. If it is lost, what lost it is the error to tell.
            with suppress(DatabaseError), listener.cursor() as cursor:
                cursor.execute("UNLISTEN *")


def _mark_awaited(listener: BaseDatabaseWrapper, task_id: UUID) -> bool:
    """Have the end of a task announced; False if somebody has the row locked, perhaps to end it just now."""
    with listener.cursor() as cursor:
        cursor.execute(
            "UPDATE horsies_tasks SET awaited = true WHERE id IN "
            "(SELECT id FROM horsies_tasks WHERE id = %s AND finished_at IS NULL FOR UPDATE SKIP LOCKED)",
            [task_id],
        )
        return bool(cursor.rowcount)


def _has_ended(listener: BaseDatabaseWrapper, task_id: UUID) -> bool | None:
    with listener.cursor() as cursor:
        cursor.execute("SELECT finished_at IS NOT NULL FROM horsies_tasks WHERE id = %s", [task_id])
        row = cursor.fetchone()
    return row[0] if row else None


def _listen(listener: BaseDatabaseWrapper, payload: str, seconds: float) -> None:
    """Return when the payload is heard, or when the time is up."""
    for notification in listener.connection.notifies(timeout=seconds):
        if notification.payload == payload:
            return
