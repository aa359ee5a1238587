"""The states of the house, and the sets of them that rules speak of."""

from __future__ import annotations

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class TaskStatus(TextChoices):
    PENDING = "PENDING", _("Pending")
    CLAIMED = "CLAIMED", _("Claimed")
    RUNNING = "RUNNING", _("Running")
    COMPLETED = "COMPLETED", _("Completed")
    FAILED = "FAILED", _("Failed")
    CANCELLED = "CANCELLED", _("Cancelled")
    EXPIRED = "EXPIRED", _("Expired")


IN_FLIGHT = (TaskStatus.CLAIMED, TaskStatus.RUNNING)
OPEN = (TaskStatus.PENDING, *IN_FLIGHT)
TERMINAL = (TaskStatus.COMPLETED, TaskStatus.FAILED, TaskStatus.CANCELLED, TaskStatus.EXPIRED)


class AttemptOutcome(TextChoices):
    COMPLETED = "COMPLETED", _("Completed")
    FAILED = "FAILED", _("Failed")
    CRASHED = "CRASHED", _("Crashed")
    TIMED_OUT = "TIMED_OUT", _("Timed out")
    CANCELLED = "CANCELLED", _("Cancelled")
    REJECTED = "REJECTED", _("Rejected")


class HeartbeatRole(TextChoices):
    CLAIMER = "claimer", _("Claimer")
    RUNNER = "runner", _("Runner")


class WorkerStatus(TextChoices):
    ALIVE = "ALIVE", _("Alive")
    DRAINING = "DRAINING", _("Draining")
    STOPPED = "STOPPED", _("Stopped")
    DEAD = "DEAD", _("Dead")


class RecoveryTrigger(TextChoices):
    STARTUP = "startup", _("Start-up")
    PERIODIC = "periodic", _("Periodic")
    MANUAL = "manual", _("Manual")
    ADMIN = "admin", _("Admin")


class RecoveryAction(TextChoices):
    REQUEUE = "requeue", _("Requeue")
    RETRY = "retry", _("Retry")
    FAIL = "fail", _("Fail")
    PENDING = "pending", _("Back to pending")


class ErrorCode(TextChoices):
    """The codes horsies gives itself; a task may fail with a code of its own."""

    WORKER_CRASHED = "WORKER_CRASHED", _("Worker crashed")
    CRASH_LIMIT_EXCEEDED = "CRASH_LIMIT_EXCEEDED", _("Crash limit exceeded")
    TASK_TIMEOUT = "TASK_TIMEOUT", _("Task timed out")
    TASK_CANCELLED = "TASK_CANCELLED", _("Task cancelled")
    TASK_EXPIRED = "TASK_EXPIRED", _("Task expired")
    UNHANDLED_EXCEPTION = "UNHANDLED_EXCEPTION", _("Unhandled exception")
    WORKER_RESOLUTION_ERROR = "WORKER_RESOLUTION_ERROR", _("No such task type")
    WORKER_SERIALIZATION_ERROR = "WORKER_SERIALIZATION_ERROR", _("Result is no JSON")
    RESULT_NOT_AVAILABLE = "RESULT_NOT_AVAILABLE", _("Result not available")
    UPSTREAM_SKIPPED = "UPSTREAM_SKIPPED", _("Upstream skipped")
    FAILED_BY_OPERATOR = "FAILED_BY_OPERATOR", _("Failed by operator")


# Who acted, where no person did.
SYSTEM_ACTOR = "system/recovery"
