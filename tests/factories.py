"""Rows of every model, in any state, with the traces that a task in that state leaves behind."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import factory
from django.utils import timezone
from factory.django import DjangoModelFactory

from horsies_django import models
from horsies_django.states import (
    TERMINAL,
    AttemptOutcome,
    ErrorCode,
    HeartbeatRole,
    RecoveryAction,
    RecoveryTrigger,
    TaskStatus,
)

ERROR_CODES = {
    TaskStatus.FAILED: ErrorCode.UNHANDLED_EXCEPTION,
    TaskStatus.CANCELLED: ErrorCode.TASK_CANCELLED,
    TaskStatus.EXPIRED: ErrorCode.TASK_EXPIRED,
}


class WorkerFactory(DjangoModelFactory[models.Worker]):
    class Meta:
        model = models.Worker

    name = factory.Sequence(lambda n: f"worker-{n}")
    hostname = "test-host"
    pid = factory.Sequence(lambda n: 10_000 + n)
    queues = ["*"]
    processes = 2
    version = "0"


class WorkerStateFactory(DjangoModelFactory[models.WorkerState]):
    class Meta:
        model = models.WorkerState

    worker = factory.SubFactory(WorkerFactory)
    tasks_running = 1
    memory_mb = 50.0
    cpu_percent = 1.5
    load = 0.2


class TaskAttemptFactory(DjangoModelFactory[models.TaskAttempt]):
    class Meta:
        model = models.TaskAttempt

    task = factory.SubFactory("tests.factories.TaskFactory", status=TaskStatus.RUNNING)
    number = factory.SelfAttribute("task.attempt_count")
    claim_generation = factory.SelfAttribute("task.claim_generation")
    worker = factory.SelfAttribute("task.worker")
    runner_pid = factory.SelfAttribute("task.runner_pid")
    started_at = factory.SelfAttribute("task.started_at")
    outcome = AttemptOutcome.COMPLETED


class HeartbeatFactory(DjangoModelFactory[models.Heartbeat]):
    class Meta:
        model = models.Heartbeat

    task = factory.SubFactory("tests.factories.TaskFactory", status=TaskStatus.RUNNING)
    role = factory.LazyAttribute(
        lambda beat: HeartbeatRole.CLAIMER if beat.task.status == TaskStatus.CLAIMED else HeartbeatRole.RUNNER
    )
    sender_id = factory.LazyAttribute(lambda beat: str(beat.task.worker_id))
    hostname = "test-host"
    pid = factory.SelfAttribute("task.runner_pid")
    claim_generation = factory.SelfAttribute("task.claim_generation")


class TaskFactory(DjangoModelFactory[models.Task]):
    """A task in the state asked for; `heartbeats=2` and `attempts=1` give it that many, just past."""

    class Meta:
        model = models.Task
        skip_postgeneration_save = True

    class Params:
        has_run = factory.LazyAttribute(
            lambda task: task.status == TaskStatus.RUNNING or (task.status in TERMINAL and not task.never_ran)
        )
        was_claimed = factory.LazyAttribute(lambda task: task.status == TaskStatus.CLAIMED or task.has_run)
        never_ran = factory.LazyAttribute(lambda task: task.status in (TaskStatus.EXPIRED, TaskStatus.CANCELLED))

    name = "testproject.demo.tasks.send_receipt"
    args = factory.Sequence(lambda n: [n])
    status = TaskStatus.PENDING
    claim_generation = factory.LazyAttribute(lambda task: int(task.was_claimed))
    claimed_at = factory.LazyAttribute(lambda task: timezone.now() if task.was_claimed else None)
    started_at = factory.LazyAttribute(lambda task: timezone.now() if task.has_run else None)
    finished_at = factory.LazyAttribute(lambda task: timezone.now() if task.status in TERMINAL else None)
    worker = factory.Maybe("was_claimed", factory.SubFactory(WorkerFactory), None)
    runner_pid = factory.LazyAttribute(lambda task: 4711 if task.has_run else None)
    attempt_count = factory.LazyAttribute(lambda task: int(task.has_run))
    error_code = factory.LazyAttribute(lambda task: ERROR_CODES.get(task.status, ""))

    @factory.post_generation
    def heartbeats(self: models.Task, create: bool, count: int | None, **kwargs: Any) -> None:  # type: ignore[misc]
        for age in range(count or 0):
            HeartbeatFactory(task=self, sent_at=timezone.now() - timedelta(seconds=30 * age), **kwargs)

    @factory.post_generation
    def attempts(self: models.Task, create: bool, count: int | None, **kwargs: Any) -> None:  # type: ignore[misc]
        for number in range(1, (count or 0) + 1):
            TaskAttemptFactory(task=self, number=number, claim_generation=number, **kwargs)


class RecoveryReportFactory(DjangoModelFactory[models.RecoveryReport]):
    class Meta:
        model = models.RecoveryReport

    trigger = RecoveryTrigger.MANUAL
    integrity_passed = True
    completed_at = factory.LazyFunction(timezone.now)
    duration_ms = 12


class RecoveredTaskFactory(DjangoModelFactory[models.RecoveredTask]):
    class Meta:
        model = models.RecoveredTask

    report = factory.SubFactory(RecoveryReportFactory)
    task = factory.SubFactory(TaskFactory)
    action = RecoveryAction.REQUEUE
    reason = "no claimer heartbeat for 130 s"
    attempt_count = 1
    max_attempts = 3
