"""CLAIMED → RUNNING → ended: every write names the state it leaves and the claim it holds."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from horsies_django.dialects import Attempt, Ending
from horsies_django.models import Task, TaskAttempt
from horsies_django.queue.cancel import cancel
from horsies_django.queue.claim import claim
from horsies_django.queue.finish import finish
from horsies_django.queue.progress import is_cancelled, set_progress
from horsies_django.queue.start import start
from tests import tasks
from tests.factories import TaskFactory

pytestmark = pytest.mark.django_db

COMPLETED = Ending(status="COMPLETED", attempt=Attempt(outcome="COMPLETED"), result="[1]")
FAILED = Ending(
    status="FAILED",
    attempt=Attempt(outcome="FAILED", error_code="NO_STOCK", error_message="m", exception_class="x.Y", traceback="t"),
)
RETRIED = Ending(
    status="PENDING",
    attempt=replace(FAILED.attempt, will_retry=True),
    retry_delay=timedelta(seconds=90),
)


@pytest.fixture
def held():
    tasks.add.enqueue(1)
    (claimed,) = claim(connection)
    return claimed


@pytest.fixture
def started(held):
    return start(connection, held, runner_pid=4711)


def row() -> Task:
    return Task.objects.get()


def test_a_started_task_is_running_and_has_an_attempt(held):
    started = start(connection, held, runner_pid=4711)

    assert (row().status, row().runner_pid, row().attempt_count) == ("RUNNING", 4711, 1)
    assert (started.started_at, started.attempt_count, started.runner_pid) == (row().started_at, 1, 4711)


def test_a_task_is_started_once(started):
    assert start(connection, started, runner_pid=1) is None
    assert row().runner_pid == 4711


def test_an_old_claim_cannot_start_a_task(held):
    Task.objects.update(claim_generation=2)

    assert start(connection, held, runner_pid=1) is None
    assert row().status == "CLAIMED"


def test_a_task_that_expired_after_its_claim_is_not_started(held):
    Task.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    assert start(connection, held, runner_pid=1) is None


def test_a_completed_task_has_its_result_and_its_attempt(started):
    assert finish(connection, started, COMPLETED) == "COMPLETED"

    assert (row().status, row().result, row().error_code) == ("COMPLETED", [1], "")
    assert row().finished_at >= row().started_at
    attempt = TaskAttempt.objects.get()
    assert (attempt.number, attempt.claim_generation, attempt.outcome) == (1, 1, "COMPLETED")
    assert (attempt.runner_pid, attempt.started_at, attempt.will_retry) == (4711, row().started_at, False)


def test_a_failed_task_says_why(started):
    assert finish(connection, started, FAILED) == "FAILED"

    assert (row().status, row().error_code, row().error_message, row().traceback) == ("FAILED", "NO_STOCK", "m", "t")
    attempt = TaskAttempt.objects.get()
    assert (attempt.error_code, attempt.exception_class, attempt.traceback) == ("NO_STOCK", "x.Y", "t")


def test_a_retried_task_waits_without_an_owner(started):
    assert finish(connection, started, RETRIED) == "PENDING"

    retried = row()
    assert (retried.status, retried.retry_count, retried.attempt_count) == ("PENDING", 1, 1)
    assert (retried.worker, retried.runner_pid, retried.claimed_at, retried.started_at) == (None, None, None, None)
    assert timedelta(seconds=85) < retried.next_retry_at - timezone.now() < timedelta(seconds=91)
    assert TaskAttempt.objects.get().will_retry is True


def test_a_task_that_was_asked_to_stop_is_not_tried_again(started):
    cancel(connection, started.task_id, reason="")

    assert finish(connection, started, RETRIED) == "CANCELLED"

    cancelled = row()
    assert (cancelled.status, cancelled.error_code, cancelled.retry_count) == ("CANCELLED", "TASK_CANCELLED", 0)
    assert (cancelled.next_retry_at, cancelled.runner_pid) == (None, 4711)
    assert TaskAttempt.objects.get().will_retry is False


@pytest.mark.parametrize("ending", [COMPLETED, FAILED, RETRIED])
def test_a_late_outcome_is_refused_and_recorded(started, ending):
    finish(connection, started, COMPLETED)
    before = Task.objects.values().get()

    assert finish(connection, started, ending) is None

    assert Task.objects.values().get() == before
    refused = TaskAttempt.objects.get(outcome="REJECTED")
    assert refused.claim_generation == 1
    assert f"{ending.attempt.outcome} came too late" in refused.error_message
    assert refused.will_retry is False


def test_an_older_claim_cannot_end_a_newer_one(started):
    Task.objects.update(claim_generation=2)

    assert finish(connection, started, COMPLETED) is None
    assert row().status == "RUNNING"
    assert TaskAttempt.objects.get().outcome == "REJECTED"


@pytest.mark.django_db(transaction=True)
def test_outside_a_transaction_an_ending_is_whole_too(started):
    assert finish(connection, started, COMPLETED) == "COMPLETED"
    assert not connection.in_atomic_block
    assert (row().status, TaskAttempt.objects.count()) == ("COMPLETED", 1)
    assert finish(connection, started, FAILED) is None
    assert TaskAttempt.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_an_ending_that_cannot_be_recorded_did_not_happen(started):
    impossible = replace(COMPLETED, attempt=Attempt(outcome="UNHEARD OF"))
    with pytest.raises(Exception, match="(?i)constraint"):
        finish(connection, started, impossible)

    assert row().status == "RUNNING"
    assert finish(connection, started, COMPLETED) == "COMPLETED"


@pytest.mark.parametrize("status", ["PENDING", "CLAIMED"])
def test_a_task_that_does_not_run_is_cancelled_at_once(status):
    task = TaskFactory(status=status)

    assert cancel(connection, task.id, reason="not wanted") == "CANCELLED"

    assert (row().status, row().error_code, row().error_message) == ("CANCELLED", "TASK_CANCELLED", "not wanted")
    assert row().finished_at is not None


def test_a_running_task_is_asked_to_stop(started):
    assert is_cancelled(connection, started) is False
    assert cancel(connection, started.task_id, reason="") == "RUNNING"
    asked_at = row().cancel_requested_at
    assert cancel(connection, started.task_id, reason="") == "RUNNING"

    assert is_cancelled(connection, started) is True
    assert (row().status, row().error_code, row().cancel_requested_at) == ("RUNNING", "", asked_at)


def test_a_claim_that_lost_its_task_should_stop_too(started):
    Task.objects.update(claim_generation=2)
    assert is_cancelled(connection, started) is True


@pytest.mark.parametrize("status", ["COMPLETED", "FAILED", "CANCELLED", "EXPIRED"])
def test_what_has_ended_cannot_be_cancelled(status):
    task = TaskFactory(status=status)
    before = Task.objects.values().get()

    assert cancel(connection, task.id, reason="") is None
    assert Task.objects.values().get() == before


def test_a_cancelled_claim_cannot_start(held):
    cancel(connection, held.task_id, reason="")
    assert start(connection, held, runner_pid=1) is None


def test_progress_is_kept_for_the_claim_that_holds_the_task(started):
    set_progress(connection, started, 0.25, "quarter")
    assert row().progress == {"fraction": 0.25, "message": "quarter"}

    set_progress(connection, replace(started, generation=9), 0.5, "half")
    assert row().progress["fraction"] == 0.25
