from __future__ import annotations

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from ..ids import uuid7
from ..states import SYSTEM_ACTOR, RecoveryAction, RecoveryTrigger
from .constraints import implies, known_choice
from .report_text import report_as_text
from .tasks import Task
from .workers import Worker


class RecoveryReport(models.Model):
    """What one recovery pass found and did."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    trigger = models.CharField(_("trigger"), max_length=16, choices=RecoveryTrigger)
    actor = models.CharField(_("actor"), max_length=255, default=SYSTEM_ACTOR)
    dry_run = models.BooleanField(_("dry run"), default=False)
    started_at = models.DateTimeField(_("started at"), db_default=Now())
    completed_at = models.DateTimeField(_("completed at"), null=True, blank=True)
    duration_ms = models.PositiveBigIntegerField(_("duration (ms)"), null=True, blank=True)
    integrity_passed = models.BooleanField(_("integrity passed"), null=True, blank=True)
    integrity = models.JSONField(_("integrity"), default=dict, blank=True)
    wal_frames_checkpointed = models.PositiveIntegerField(_("WAL frames checkpointed"), default=0)
    orphans_found = models.PositiveIntegerField(_("orphans found"), default=0)
    recovered = models.PositiveIntegerField(_("recovered"), default=0)
    failed_recoveries = models.PositiveIntegerField(_("failed recoveries"), default=0)
    dead_workers = models.JSONField(_("dead workers"), default=list, blank=True)
    workflows_recovered = models.PositiveIntegerField(_("workflows recovered"), default=0)
    pruned = models.JSONField(_("pruned"), default=dict, blank=True)
    notes = models.JSONField(_("notes"), default=list, blank=True)

    class Meta:
        db_table = "horsies_recovery_reports"
        verbose_name = _("recovery report")
        verbose_name_plural = _("recovery reports")
        get_latest_by = "started_at"
        constraints = [
            known_choice("horsies_report_trigger", "trigger", RecoveryTrigger),
        ]

    def __str__(self) -> str:
        return f"{self.trigger} {self.started_at}"

    def as_text(self) -> str:
        """Return the report for a person to read."""
        return report_as_text(self)


class RecoveredTask(models.Model):
    """What was done about one task, by whom and on what evidence."""

    report = models.ForeignKey(
        RecoveryReport,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="tasks",
        verbose_name=_("report"),
    )
    # The account of a recovery outlives the task it speaks of.
    task = models.ForeignKey(
        Task,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="recoveries",
        verbose_name=_("task"),
    )
    action = models.CharField(_("action"), max_length=16, choices=RecoveryAction)
    reason = models.TextField(_("reason"), blank=True, default="")
    evidence = models.JSONField(_("evidence"), default=dict, blank=True)
    attempt_count = models.PositiveIntegerField(_("attempts"), default=0)
    max_attempts = models.PositiveIntegerField(_("attempts allowed"), default=0)
    previous_worker = models.ForeignKey(
        Worker,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        db_constraint=False,
        db_index=False,
        related_name="+",
        verbose_name=_("previous worker"),
    )
    success = models.BooleanField(_("success"), default=True)
    error = models.TextField(_("error"), blank=True, default="")
    actor = models.CharField(_("actor"), max_length=255, default=SYSTEM_ACTOR)
    recovered_at = models.DateTimeField(_("recovered at"), db_default=Now())

    class Meta:
        db_table = "horsies_recovered_tasks"
        verbose_name = _("recovered task")
        verbose_name_plural = _("recovered tasks")
        constraints = [
            known_choice("horsies_recovered_action", "action", RecoveryAction),
            implies("horsies_recovered_failure_explained", models.Q(success=False), ~models.Q(error="")),
        ]

    def __str__(self) -> str:
        return f"{self.task_id}: {self.action}"
