"""The tables: impossible states are impossible, and every possible one can be made."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from horsies_django.ids import _python_uuid7, uuid7
from horsies_django.models import Heartbeat, RecoveredTask, RecoveryReport, Task, TaskAttempt, Worker, WorkerState
from horsies_django.states import IN_FLIGHT, TERMINAL, AttemptOutcome, TaskStatus
from tests.factories import (
    HeartbeatFactory,
    RecoveredTaskFactory,
    RecoveryReportFactory,
    TaskAttemptFactory,
    TaskFactory,
    WorkerFactory,
    WorkerStateFactory,
)

pytestmark = pytest.mark.django_db
NOW = timezone.now()

TABLES = {
    Task: "horsies_tasks",
    TaskAttempt: "horsies_task_attempts",
    Heartbeat: "horsies_heartbeats",
    Worker: "horsies_workers",
    WorkerState: "horsies_worker_states",
    RecoveryReport: "horsies_recovery_reports",
    RecoveredTask: "horsies_recovered_tasks",
}


def test_the_tables_have_their_names():
    assert {model: model._meta.db_table for model in TABLES} == TABLES
    assert {model._meta.app_label for model in TABLES} == {"horsies"}
    assert set(TABLES.values()) <= set(connection.introspection.table_names())


@pytest.mark.parametrize("status", TaskStatus)
def test_a_task_can_be_made_in_any_state_with_its_traces(status):
    task = TaskFactory(status=status, heartbeats=3, attempts=2)

    task.refresh_from_db()
    task.full_clean()
    assert (task.status, task.heartbeats.count(), task.attempts.count()) == (status, 3, 2)
    assert (task.finished_at is not None) == (status in TERMINAL)
    assert (task.worker is not None) == (status in (*IN_FLIGHT, "COMPLETED", "FAILED"))


@pytest.mark.parametrize(
    "factory",
    [
        HeartbeatFactory,
        RecoveredTaskFactory,
        RecoveryReportFactory,
        TaskAttemptFactory,
        TaskFactory,
        WorkerFactory,
        WorkerStateFactory,
    ],
)
def test_every_model_has_a_factory_whose_rows_are_valid(factory):
    row = factory()
    row.refresh_from_db()
    row.full_clean()
    assert str(row)


IMPOSSIBLE = {
    "an unknown status": {"status": "LOST"},
    "a priority too high": {"priority": 101},
    "a priority too low": {"priority": -101},
    "a claim without its moment": {"status": "CLAIMED", "claimed_at": None},
    "a run without a start": {"status": "RUNNING", "started_at": None},
    "a completed task without an end": {"status": "COMPLETED", "finished_at": None},
    "a failed task without an end": {"status": "FAILED", "finished_at": None},
    "a cancelled task without an end": {"status": "CANCELLED", "finished_at": None},
    "an expired task without an end": {"status": "EXPIRED", "finished_at": None},
    "a pending task with an end": {"status": "PENDING", "finished_at": NOW},
    "a running task with an end": {"status": "RUNNING", "finished_at": NOW},
    "a completed task with an error": {"status": "COMPLETED", "error_code": "NO_STOCK"},
    "a timeout of nothing": {"timeout_ms": 0},
    "a negative attempt count": {"attempt_count": -1},
    "a negative claim generation": {"claim_generation": -1},
    "a negative recovery count": {"recovery_count": -1},
}


@pytest.mark.parametrize("fields", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_impossible_tasks_are_refused_by_the_database(fields):
    with pytest.raises(IntegrityError), transaction.atomic():
        TaskFactory(**fields)
    status = fields.get("status", "PENDING")
    task = TaskFactory(status=status if status in TaskStatus else "PENDING")
    with pytest.raises(IntegrityError), transaction.atomic():
        Task.objects.filter(pk=task.pk).update(**fields)


@pytest.mark.parametrize(
    ("factory", "fields"),
    [
        (WorkerFactory, {"status": "SLEEPY"}),
        (TaskAttemptFactory, {"outcome": "SHRUG"}),
        (TaskAttemptFactory, {"outcome": "COMPLETED", "will_retry": True}),
        (TaskAttemptFactory, {"outcome": "COMPLETED", "error_code": "NO_STOCK"}),
        (HeartbeatFactory, {"role": "drummer"}),
        (RecoveryReportFactory, {"trigger": "boredom"}),
        (RecoveredTaskFactory, {"action": "pray"}),
        (RecoveredTaskFactory, {"success": False, "error": ""}),
    ],
)
def test_other_impossible_rows_are_refused_too(factory, fields):
    with pytest.raises(IntegrityError), transaction.atomic():
        factory(**fields)


def test_one_claim_has_one_accepted_outcome_and_any_number_of_refused_ones():
    attempt = TaskAttemptFactory(outcome=AttemptOutcome.COMPLETED)
    for _ in range(2):
        TaskAttemptFactory(task=attempt.task, outcome=AttemptOutcome.REJECTED)
    with pytest.raises(IntegrityError), transaction.atomic():
        TaskAttemptFactory(task=attempt.task, outcome=AttemptOutcome.CRASHED)


def test_a_running_task_whose_worker_is_gone_is_an_orphan_not_an_error():
    task = TaskFactory(status="RUNNING")
    task.worker.delete()
    task.refresh_from_db()
    assert (task.status, task.worker) == ("RUNNING", None)


def test_the_account_of_a_recovery_outlives_its_task():
    recovered = RecoveredTaskFactory()
    task_id = recovered.task_id
    recovered.task.delete()
    recovered.refresh_from_db()
    assert recovered.task_id == task_id


def test_rows_are_stamped_by_the_database():
    before = timezone.now() - timedelta(seconds=1)
    rows = [TaskFactory().enqueued_at, WorkerFactory().last_heartbeat_at, HeartbeatFactory().sent_at]
    assert all(before <= moment <= timezone.now() + timedelta(seconds=1) for moment in rows)


def test_ids_sort_by_the_time_they_were_made():
    ids = [uuid7() for _ in range(10_000)]
    assert ids == sorted(ids)
    assert len(set(ids)) == len(ids)
    assert {(one.version, one.variant) for one in ids} == {(7, "specified in RFC 4122")}
    seconds = (ids[0].int >> 80) / 1000
    assert abs(seconds - timezone.now().timestamp()) < 10
    assert TaskFactory().id > ids[-1]


def test_ids_sort_even_if_the_clock_stands_still_or_goes_back(monkeypatch):
    now = time.time_ns()
    ids = []
    for moment in (now, now, now - 1_000_000_000, now):
        monkeypatch.setattr(time, "time_ns", lambda moment=moment: moment)
        ids += [_python_uuid7() for _ in range(5_000)]
    assert ids == sorted(ids)
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(("status", "role"), [("CLAIMED", "claimer"), ("RUNNING", "runner")])
def test_silence_is_counted_from_the_newest_sign_of_this_very_claim(status, role):
    ago = {seconds: timezone.now() - timedelta(seconds=seconds) for seconds in (10, 100, 1000)}
    long_ago = {"claimed_at": ago[1000]} | ({"started_at": ago[1000]} if status == "RUNNING" else {})
    task = TaskFactory(status=status, claim_generation=2, **long_ago)
    other_role = {"claimer": "runner", "runner": "claimer"}[role]
    HeartbeatFactory(task=task, role=role, sent_at=ago[100])
    HeartbeatFactory(task=task, role=role, sent_at=ago[10], claim_generation=1)
    HeartbeatFactory(task=task, role=other_role, sent_at=ago[10])
    HeartbeatFactory(task=TaskFactory(status=status), role=role, sent_at=ago[10])

    assert list(Task.objects.silent_for(timedelta(seconds=90))) == [task]
    assert list(Task.objects.silent_for(timedelta(seconds=110))) == []
    (found,) = Task.objects.filter(pk=task.pk).with_last_sign_of_life()
    assert abs(found.last_sign_of_life_at - ago[100]) < timedelta(seconds=1)


def test_a_fresh_start_counts_as_a_sign_of_life():
    task = TaskFactory(status="RUNNING")
    HeartbeatFactory(task=task, sent_at=timezone.now() - timedelta(hours=1))
    assert not Task.objects.silent_for(timedelta(seconds=60)).exists()
    Task.objects.update(started_at=timezone.now() - timedelta(seconds=61))
    assert Task.objects.silent_for(timedelta(seconds=60)).count() == 1


def test_what_is_due_is_what_a_worker_may_take():
    hour = timedelta(hours=1)
    due = TaskFactory(run_after=NOW - hour, next_retry_at=NOW - hour, expires_at=NOW + hour)
    TaskFactory(run_after=NOW + hour)
    TaskFactory(next_retry_at=NOW + hour)
    TaskFactory(expires_at=NOW - hour)
    TaskFactory(status="RUNNING")
    assert list(Task.objects.due()) == [due]


def test_adjectives():
    for status in TaskStatus:
        TaskFactory(status=status)
    assert (Task.objects.open().count(), Task.objects.in_flight().count(), Task.objects.ended().count()) == (3, 2, 4)
    assert [task.is_finished for task in Task.objects.ended()] == [True] * 4
