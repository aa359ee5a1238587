from __future__ import annotations

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from ..states import HeartbeatRole
from .constraints import known_choice
from .tasks import Task


class Heartbeat(models.Model):
    """A sign of life for one claim of one task. Rows are added and pruned, never changed."""

    id = models.BigAutoField(primary_key=True)
    task = models.ForeignKey(
        Task,
        on_delete=models.CASCADE,
        db_constraint=False,
        db_index=False,
        related_name="heartbeats",
        verbose_name=_("task"),
    )
    sender_id = models.CharField(_("sender"), max_length=255)
    role = models.CharField(_("role"), max_length=16, choices=HeartbeatRole)
    sent_at = models.DateTimeField(_("sent at"), db_default=Now())
    hostname = models.CharField(_("host"), max_length=255, blank=True, default="", db_default="")
    pid = models.PositiveIntegerField(_("process id"), null=True, blank=True)
    claim_generation = models.PositiveIntegerField(_("claim generation"), default=0, db_default=0)

    class Meta:
        db_table = "horsies_heartbeats"
        verbose_name = _("heartbeat")
        verbose_name_plural = _("heartbeats")
        indexes = [
            models.Index("task", "claim_generation", "role", "sent_at", name="horsies_heartbeat_newest"),
        ]
        constraints = [known_choice("horsies_heartbeat_role", "role", HeartbeatRole)]

    def __str__(self) -> str:
        return f"{self.role} {self.sender_id} {self.sent_at}"
