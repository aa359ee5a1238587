"""SQLite 3.40 and newer: one writer, so few and short transactions."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.transaction import atomic

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

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.002, 0.05
# A wait looks again rather than wait for a lock past its own timeout.
BUSY_MILLISECONDS = 50
# SQLite takes 500 SELECTs in one. With more queues than this, priorities count within each so many.
MAX_QUEUES_A_STATEMENT = 400

INSERT = f"""
INSERT INTO horsies_tasks ({NEW_TASK_COLUMNS}) VALUES (%s, %s, %s, {{values}}) {{conflict}}
RETURNING enqueued_at, run_after
"""

INSERT_MANY = f"""
INSERT INTO horsies_tasks ({NEW_TASK_COLUMNS})
SELECT value ->> 0, value ->> 1, value ->> 2, {{values}} FROM json_each(%s) WHERE true
RETURNING enqueued_at, run_after
"""

# One ordered probe of the claim index a queue, put together once for each number of queues.
READY = f"""
SELECT * FROM (
    SELECT id, priority, enqueued_at FROM horsies_tasks
    WHERE status = 'PENDING' AND queue_name = %s AND {{conditions}}
    ORDER BY {CLAIM_ORDER} LIMIT %s
)
"""

CLAIM = f"""
UPDATE horsies_tasks
SET status = 'CLAIMED', claim_generation = claim_generation + 1, claimed_at = {{now}}, worker_id = %s,
    next_retry_at = NULL
WHERE status = 'PENDING' AND id IN (
    SELECT id FROM ({{ready}}) ORDER BY {CLAIM_ORDER} LIMIT %s
)
RETURNING {CLAIMED_COLUMNS}
"""

RECORD_ATTEMPT = f"""
INSERT INTO horsies_task_attempts ({ATTEMPT_COLUMNS})
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, {{now}})
"""


class SQLite(Dialect):
    transactions_shut_others_out = True
    has_clock_of_its_own = False
    # As Django writes its datetimes, so that they compare as text. Doubled for the parameter style.
    now = "strftime('%%Y-%%m-%%d %%H:%%M:%%f', 'now')"
    later = "strftime('%%Y-%%m-%%d %%H:%%M:%%f', 'now', %s)"

    def duration(self, duration: timedelta) -> Any:
        return f"{duration.total_seconds():+.3f} seconds"

    def uuid(self, value: UUID | None) -> Any:
        return value and value.hex

    def moment(self, connection: BaseDatabaseWrapper, raw: Any) -> datetime | None:
        operations: Any = connection.ops
        converted: datetime | None = operations.convert_datetimefield_value(raw, None, connection)
        return converted

    def insert(
        self, connection: BaseDatabaseWrapper, task: NewTask, task_id: UUID, args: str, kwargs: str
    ) -> Enqueued | None:
        shared, values = self.new_task_values(connection, task)
        sql = INSERT.format(values=shared, conflict=UNIQUE_KEY_CONFLICT if task.unique_key else "")
        with connection.cursor() as cursor:
            cursor.execute(sql, [task_id.hex, args, kwargs, *values])
            row = cursor.fetchone()
        return row and self.enqueued(connection, row)

    def insert_many(
        self, connection: BaseDatabaseWrapper, task: NewTask, calls: Sequence[tuple[UUID, str, str]]
    ) -> Enqueued:
        shared, values = self.new_task_values(connection, task)
        rows = json.dumps([(task_id.hex, args, kwargs) for task_id, args, kwargs in calls])
        with connection.cursor() as cursor:
            cursor.execute(INSERT_MANY.format(values=shared), [*values, rows])
            return self.enqueued(connection, cursor.fetchall()[0])

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
        claims: list[Claim] = []
        for start in range(0, len(queues), MAX_QUEUES_A_STATEMENT):
            some = queues[start : start + MAX_QUEUES_A_STATEMENT]
            ready = " UNION ALL ".join([READY.format(conditions=conditions)] * len(some))
            values = [value for queue in some for value in (queue, limit)]
            with connection.cursor() as cursor:
                cursor.execute(
                    CLAIM.format(now=self.now, ready=ready), [self.uuid(worker_id), *values, limit - len(claims)]
                )
                claims += self.claims(cursor.fetchall(), worker_id)
        return claims

    def finish(self, connection: BaseDatabaseWrapper, claim: Claim, ending: Ending) -> str | None:
        end, values = self.finish_statement(claim, ending)
        with writing(connection), connection.cursor() as cursor:
            cursor.execute(end, values)
            row = cursor.fetchone()
            attempt = ending.attempt if row else rejected(ending.attempt)
            if row and row[1] != "PENDING":
                attempt = replace(attempt, will_retry=False)
            cursor.execute(
                RECORD_ATTEMPT.format(now=self.now),
                [*self.claim_values(connection, claim), *attempt_values(attempt)],
            )
        return row[1] if row else None

    def wait_for_ending(
        self, connection: BaseDatabaseWrapper, task_id: UUID, timeout: float | None, stop: StopAsked
    ) -> bool | None:
        deadline = None if timeout is None else time.monotonic() + timeout
        pause = FIRST_PAUSE_SECONDS
        with _reading(connection.alias) as reader:
            while not stop():
                ended = _has_ended(reader, task_id)
                left = pause if deadline is None else min(deadline - time.monotonic(), pause)
                if ended is not False or left <= 0:
                    return ended
                time.sleep(left)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
        return False

    def too_old(self, connection: BaseDatabaseWrapper) -> str | None:
        return None  # the version is that of this process, and checked before any file is opened


@contextmanager
def writing(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Make several statements one, within the caller's transaction or in one of their own."""
    if connection.in_atomic_block:
        with atomic(using=connection.alias):
            yield
        return
    # Not atomic(): that knows only the thread's own connection, and this may be another.
    with connection.cursor() as cursor:
        cursor.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            cursor.execute("ROLLBACK")
            raise
        cursor.execute("COMMIT")


@contextmanager
def _reading(alias: str) -> Iterator[BaseDatabaseWrapper]:
    """Yield a connection of its own, and close it even where Django would not: on a database in memory."""
    reader = connections.create_connection(alias)
    try:
        with reader.cursor() as cursor:
            cursor.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")
        yield reader
    finally:
        BaseDatabaseWrapper.close(reader)


def _has_ended(reader: BaseDatabaseWrapper, task_id: UUID) -> bool | None:
    try:
        with reader.cursor() as cursor:
            cursor.execute("SELECT finished_at IS NOT NULL FROM horsies_tasks WHERE id = %s", [task_id.hex])
            row = cursor.fetchone()
    except OperationalError as error:
        if "locked" not in str(error):
            raise
        return False  # without WAL mode an everyday thing: look again
    return row and bool(row[0])
