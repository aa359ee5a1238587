from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from ..compat import DEFAULT_TASK_BACKEND_ALIAS, DEFAULT_TASK_QUEUE_NAME, TASK_MAX_PRIORITY, TASK_MIN_PRIORITY
from ..ids import uuid7
from ..limits import MAX_BACKEND_LENGTH, MAX_NAME_LENGTH, MAX_QUEUE_NAME_LENGTH, MAX_UNIQUE_KEY_LENGTH
from ..states import IN_FLIGHT, OPEN, TERMINAL, AttemptOutcome, TaskStatus
from .constraints import implies, known_choice
from .querysets import TaskQuerySet
from .workers import Worker


class Task(models.Model):
    """One call of a task type.

    Only the functions in `horsies_django.queue` move a task from state to state: each of their writes
    names the state it leaves and the claim generation it holds.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(_("task type"), max_length=MAX_NAME_LENGTH)
    queue_name = models.CharField(
        _("queue"),
        max_length=MAX_QUEUE_NAME_LENGTH,
        default=DEFAULT_TASK_QUEUE_NAME,
        db_default=DEFAULT_TASK_QUEUE_NAME,
    )
    backend = models.CharField(
        _("backend"),
        max_length=MAX_BACKEND_LENGTH,
        default=DEFAULT_TASK_BACKEND_ALIAS,
        db_default=DEFAULT_TASK_BACKEND_ALIAS,
    )
    priority = models.SmallIntegerField(_("priority"), default=0, db_default=0)
    args = models.JSONField(_("arguments"), default=list, blank=True)
    kwargs = models.JSONField(_("keyword arguments"), default=dict, blank=True)
    status = models.CharField(
        _("status"), max_length=16, choices=TaskStatus, default=TaskStatus.PENDING, db_default="PENDING"
    )

    enqueued_at = models.DateTimeField(_("enqueued at"), db_default=Now())
    run_after = models.DateTimeField(_("run after"), null=True, blank=True)
    next_retry_at = models.DateTimeField(_("next retry at"), null=True, blank=True)
    expires_at = models.DateTimeField(_("expires at"), null=True, blank=True)
    timeout_ms = models.PositiveBigIntegerField(_("timeout (ms)"), null=True, blank=True)

    claim_generation = models.PositiveIntegerField(_("claim generation"), default=0, db_default=0)
    claimed_at = models.DateTimeField(_("claimed at"), null=True, blank=True)
    started_at = models.DateTimeField(_("started at"), null=True, blank=True)
    finished_at = models.DateTimeField(_("finished at"), null=True, blank=True)
    # No constraint and no index of its own: every claim writes this column, and a check of the
    # foreign key for each would cost more than the claim. The in-flight index finds a worker's tasks.
    worker = models.ForeignKey(
        Worker,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        db_constraint=False,
        db_index=False,
        related_name="tasks",
        verbose_name=_("worker"),
    )
    runner_pid = models.PositiveIntegerField(_("runner process id"), null=True, blank=True)

    attempt_count = models.PositiveIntegerField(_("attempts"), default=0, db_default=0)
    retry_count = models.PositiveIntegerField(_("retries"), default=0, db_default=0)
    max_retries = models.PositiveIntegerField(_("retries allowed"), default=0, db_default=0)
    recovery_count = models.PositiveIntegerField(_("recoveries"), default=0, db_default=0)
    retry_policy = models.JSONField(_("retry policy"), null=True, blank=True)
    idempotent = models.BooleanField(_("safe to run again"), default=False, db_default=False)

    result = models.JSONField(_("result"), null=True, blank=True)
    error_code = models.CharField(_("error code"), max_length=64, blank=True, default="", db_default="")
    error_message = models.TextField(_("error message"), blank=True, default="", db_default="")
    traceback = models.TextField(_("traceback"), blank=True, default="", db_default="")
    progress = models.JSONField(_("progress"), null=True, blank=True)
    cancel_requested_at = models.DateTimeField(_("cancel requested at"), null=True, blank=True)
    unique_key = models.CharField(
        _("unique key"), max_length=MAX_UNIQUE_KEY_LENGTH, null=True, blank=True, default=None
    )
    # Somebody waits for the end of this task, so its end is announced.
    awaited = models.BooleanField(_("awaited"), default=False, db_default=False, editable=False)
    # Becomes a foreign key when workflows arrive.
    workflow_task = models.UUIDField(
        _("workflow node"), null=True, blank=True, editable=False, db_column="workflow_task_id"
    )

    objects = TaskQuerySet.as_manager()

    class Meta:
        db_table = "horsies_tasks"
        verbose_name = _("task")
        verbose_name_plural = _("tasks")
        indexes = [
            models.Index(
                "queue_name",
                F("priority").desc(),
                "enqueued_at",
                "id",
                name="horsies_task_claim",
                condition=Q(status="PENDING"),
            ),
            models.Index("worker", name="horsies_task_in_flight", condition=Q(status__in=IN_FLIGHT)),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["name", "unique_key"],
                name="horsies_task_unique_key",
                condition=Q(unique_key__isnull=False, status__in=OPEN),
            ),
            known_choice("horsies_task_status", "status", TaskStatus),
            models.CheckConstraint(
                name="horsies_task_priority",
                condition=Q(priority__gte=TASK_MIN_PRIORITY, priority__lte=TASK_MAX_PRIORITY),
            ),
            implies("horsies_task_claimed", Q(status="CLAIMED"), Q(claimed_at__isnull=False)),
            implies("horsies_task_running", Q(status="RUNNING"), Q(started_at__isnull=False)),
            implies("horsies_task_terminal", Q(status__in=TERMINAL), Q(finished_at__isnull=False)),
            implies("horsies_task_open", Q(status__in=OPEN), Q(finished_at__isnull=True)),
            implies("horsies_task_completed", Q(status="COMPLETED"), Q(error_code="")),
            models.CheckConstraint(
                name="horsies_task_timeout", condition=Q(timeout_ms__isnull=True) | Q(timeout_ms__gt=0)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.id}"

    @property
    def is_finished(self) -> bool:
        """Whether the task has reached a state it does not leave on its own."""
        return self.status in TERMINAL


class TaskAttempt(models.Model):
    """One try at a task by one runner process, written when it ended."""

    # Attempts are written with the end of their task in one statement, so they cannot miss it; a
    # refused late write of a task that is long deleted must still be kept. Hence no constraint.
    task = models.ForeignKey(
        Task,
        on_delete=models.CASCADE,
        db_constraint=False,
        related_name="attempts",
        verbose_name=_("task"),
    )
    number = models.PositiveIntegerField(_("number"))
    claim_generation = models.PositiveIntegerField(_("claim generation"))
    worker = models.ForeignKey(
        Worker,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        db_constraint=False,
        db_index=False,
        related_name="attempts",
        verbose_name=_("worker"),
    )
    runner_pid = models.PositiveIntegerField(_("runner process id"), null=True, blank=True)
    started_at = models.DateTimeField(_("started at"), null=True, blank=True)
    finished_at = models.DateTimeField(_("finished at"), db_default=Now())
    outcome = models.CharField(_("outcome"), max_length=16, choices=AttemptOutcome)
    error_code = models.CharField(_("error code"), max_length=64, blank=True, default="", db_default="")
    error_message = models.TextField(_("error message"), blank=True, default="", db_default="")
    exception_class = models.CharField(_("exception class"), max_length=255, blank=True, default="", db_default="")
    traceback = models.TextField(_("traceback"), blank=True, default="", db_default="")
    will_retry = models.BooleanField(_("will be retried"), default=False, db_default=False)

    class Meta:
        db_table = "horsies_task_attempts"
        verbose_name = _("attempt")
        verbose_name_plural = _("attempts")
        constraints = [
            known_choice("horsies_attempt_outcome", "outcome", AttemptOutcome),
            implies("horsies_attempt_completed", Q(outcome="COMPLETED"), Q(error_code="", will_retry=False)),
            models.UniqueConstraint(
                fields=["task", "claim_generation"],
                name="horsies_attempt_one_outcome_a_claim",
                condition=~Q(outcome="REJECTED"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.task_id} #{self.number} {self.outcome}"
