"""What goes into and comes out of the statements of the hot path."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTask:
    """What all tasks of one enqueueing have in common. JSON is text here."""

    name: str
    queue_name: str
    backend: str
    priority: int
    run_after: datetime | timedelta | None
    expires: datetime | timedelta | None
    timeout_ms: int | None
    max_retries: int
    retry_policy: str | None
    idempotent: bool
    unique_key: str | None


@dataclass(frozen=True, slots=True)
class Enqueued:
    """The moments that the database's clock gave a new task."""

    enqueued_at: datetime
    run_after: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The right to run a task; `generation` fences every write made by it."""

    task_id: UUID
    generation: int
    name: str
    args: list[Any]
    kwargs: dict[str, Any]
    attempt_count: int
    retry_count: int
    max_retries: int
    retry_policy: dict[str, Any] | None
    worker_id: UUID | None = None
    runner_pid: int | None = None
    started_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """How one attempt ended, for the record."""

    outcome: str
    error_code: str = ""
    error_message: str = ""
    exception_class: str = ""
    traceback: str = ""
    will_retry: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Where a task goes from RUNNING, and the attempt that brought it there."""

    status: str
    attempt: Attempt
    result: str | None = None
    retry_delay: timedelta | None = None
