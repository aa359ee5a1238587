"""Adjectives for tasks."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self

from django.apps import apps
from django.db import models
from django.db.models import Case, F, OuterRef, Q, Subquery, Value, When
from django.db.models.functions import Coalesce, Greatest, Now

from ..states import IN_FLIGHT, OPEN, TERMINAL, HeartbeatRole, TaskStatus

if TYPE_CHECKING:
    from .tasks import Task  # noqa: F401


class TaskQuerySet(models.QuerySet["Task"]):
    def open(self) -> Self:
        """Tasks that have not ended."""
        return self.filter(status__in=OPEN)

    def due(self) -> Self:
        """Tasks that a worker may take now."""
        now = Now()
        return self.filter(
            Q(run_after__isnull=True) | Q(run_after__lte=now),
            Q(next_retry_at__isnull=True) | Q(next_retry_at__lte=now),
            Q(expires_at__isnull=True) | Q(expires_at__gt=now),
            status=TaskStatus.PENDING,
        )

    def in_flight(self) -> Self:
        """Tasks that some worker has claimed or runs."""
        return self.filter(status__in=IN_FLIGHT)

    def ended(self) -> Self:
        """Tasks in a state they do not leave on their own."""
        return self.filter(status__in=TERMINAL)

    def with_last_sign_of_life(self) -> Self:
        """Add `last_sign_of_life_at`: the claim, the start or the newest heartbeat of this very claim."""
        began = Case(When(status=TaskStatus.CLAIMED, then=F("claimed_at")), default=F("started_at"))
        role = Case(
            When(status=TaskStatus.CLAIMED, then=Value(HeartbeatRole.CLAIMER.value)),
            default=Value(HeartbeatRole.RUNNER.value),
        )
        heartbeats: Any = apps.get_model("horsies", "Heartbeat").objects
        newest = (
            heartbeats.filter(task=OuterRef("pk"), claim_generation=OuterRef("claim_generation"), role=OuterRef("role"))
            .order_by("-sent_at")
            .values("sent_at")[:1]
        )
        return self.annotate(
            role=role,
            last_sign_of_life_at=Greatest(began, Coalesce(Subquery(newest), began)),
        )

    def silent_for(self, threshold: timedelta) -> Self:
        """Tasks in flight whose last sign of life is older than this, by the database's clock."""
        return (
            self.in_flight()
            .with_last_sign_of_life()
            .filter(last_sign_of_life_at__lt=Now() - Value(threshold, output_field=models.DurationField()))
        )
