"""What horsies raises, and what a task may raise to say how it ended."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

MAX_RETRY_DELAY_SECONDS = 24 * 60 * 60


class Retry(Exception):
    """Raised by a task that wants to be run again, after `delay` or after its policy's own."""

    def __init__(self, reason: str = "", *, delay: float | timedelta | None = None) -> None:
        super().__init__(reason)
        seconds = delay.total_seconds() if isinstance(delay, timedelta) else delay
        if seconds is not None and not 0 <= seconds <= MAX_RETRY_DELAY_SECONDS:
            raise ValueError(f"Retry(delay={delay!r}): the delay goes from 0 to {MAX_RETRY_DELAY_SECONDS} seconds.")
        self.delay_seconds = seconds


def is_error_code(code: Any) -> bool:
    """Tell whether this can be an error code: 1 to 64 letters, digits and underscores."""
    return isinstance(code, str) and 0 < len(code) <= 64 and code.replace("_", "").isalnum()


class TaskFailure(Exception):
    """Raised by a task that has failed for a reason of its own; `code` becomes its error code."""

    def __init__(self, code: str, message: str = "") -> None:
        if not is_error_code(code):
            raise ValueError(
                f"TaskFailure code {code!r}: use 1 to 64 letters, digits and underscores, such as 'NO_STOCK'."
            )
        super().__init__(message or code)
        self.code = code

    def __reduce__(self) -> Any:
        return type(self), (self.code, str(self))


class TaskTimeout(Exception):
    """The task ran for longer than its timeout."""


class TaskCancelled(Exception):
    """The task was cancelled."""


class TaskExpired(Exception):
    """The task was not started before it expired."""


class WorkerCrashed(Exception):
    """The process that ran the task died."""


class CrashLimitExceeded(WorkerCrashed):
    """The task's process died more often than recovery allows."""


class TaskNotFound(Exception):
    """The function that the task names cannot be imported."""


class ResultNotSerializable(TypeError):
    """The task returned something that is not JSON."""


class TaskNotFinished(TimeoutError):
    """Waiting for a task ended before the task did."""


class WaitInsideTransaction(RuntimeError):
    """Waiting for a task that cannot run before the caller's own transaction ends."""


EXCEPTION_FOR_CODE: dict[str, type[Exception]] = {
    "WORKER_CRASHED": WorkerCrashed,
    "CRASH_LIMIT_EXCEEDED": CrashLimitExceeded,
    "TASK_TIMEOUT": TaskTimeout,
    "TASK_CANCELLED": TaskCancelled,
    "TASK_EXPIRED": TaskExpired,
    "WORKER_RESOLUTION_ERROR": TaskNotFound,
    "WORKER_SERIALIZATION_ERROR": ResultNotSerializable,
}
