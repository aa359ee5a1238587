from __future__ import annotations

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from ..ids import uuid7
from ..states import WorkerStatus
from .constraints import known_choice


class Worker(models.Model):
    """One `horsies_worker` process: the claimer of tasks."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(_("name"), max_length=255)
    hostname = models.CharField(_("host"), max_length=255, blank=True, default="")
    pid = models.PositiveIntegerField(_("process id"), null=True, blank=True)
    queues = models.JSONField(_("queues"), default=list, blank=True)
    processes = models.PositiveIntegerField(_("processes"), default=1)
    status = models.CharField(
        _("status"), max_length=16, choices=WorkerStatus, default=WorkerStatus.ALIVE, db_default="ALIVE"
    )
    started_at = models.DateTimeField(_("started at"), db_default=Now())
    last_heartbeat_at = models.DateTimeField(_("last heartbeat at"), db_default=Now())
    stopped_at = models.DateTimeField(_("stopped at"), null=True, blank=True)
    version = models.CharField(_("version"), max_length=64, blank=True, default="")

    class Meta:
        db_table = "horsies_workers"
        verbose_name = _("worker")
        verbose_name_plural = _("workers")
        constraints = [known_choice("horsies_worker_status", "status", WorkerStatus)]

    def __str__(self) -> str:
        return self.name


class WorkerState(models.Model):
    """How busy a worker was at one moment."""

    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="states", verbose_name=_("worker"))
    snapshot_at = models.DateTimeField(_("snapshot at"), db_default=Now())
    tasks_running = models.PositiveIntegerField(_("tasks running"), default=0)
    tasks_claimed = models.PositiveIntegerField(_("tasks claimed"), default=0)
    memory_mb = models.FloatField(_("memory (MB)"), null=True, blank=True)
    cpu_percent = models.FloatField(_("CPU (%)"), null=True, blank=True)
    load = models.FloatField(_("load"), null=True, blank=True)

    class Meta:
        db_table = "horsies_worker_states"
        verbose_name = _("worker state")
        verbose_name_plural = _("worker states")

    def __str__(self) -> str:
        return f"{self.worker_id} {self.snapshot_at}"
