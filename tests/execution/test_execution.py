"""Running a task: what its function gets, and what follows from how it ends."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from horsies_django import RetryPolicy, testing
from horsies_django.dialects import Claim
from horsies_django.exceptions import TaskNotFound
from horsies_django.execution.decide import decide
from horsies_django.execution.outcomes import Returned
from horsies_django.execution.perform import perform
from horsies_django.execution.run import raised
from horsies_django.ids import uuid7
from horsies_django.models import Task, TaskAttempt
from horsies_django.queue.claim import claim
from horsies_django.results import resolve_task
from horsies_django.signals import task_cancelled, task_retried
from tests import tasks
from tests.factories import TaskFactory
from tests.receivers import receiving


def a_claim(policy: RetryPolicy | None = None, retry_count: int = 0) -> Claim:
    return Claim(
        task_id=uuid7(),
        generation=1,
        name="tests.tasks.add",
        args=[],
        kwargs={},
        attempt_count=1,
        retry_count=retry_count,
        max_retries=policy.max_retries if policy else 0,
        retry_policy=policy.as_json() if policy else None,
    )


TWICE = RetryPolicy.fixed([5, 60], auto_retry_for=[OSError, "NO_STOCK"])


def test_a_return_completes():
    ending = decide(Returned("[1]"), a_claim())
    assert (ending.status, ending.result, ending.attempt.outcome) == ("COMPLETED", "[1]", "COMPLETED")


@pytest.mark.parametrize(
    ("policy", "retry_count", "error", "delay"),
    [
        (None, 0, OSError(), None),
        (TWICE, 0, OSError(), 5),
        (TWICE, 1, ConnectionResetError(), 60),
        (TWICE, 2, OSError(), None),
        (TWICE, 0, ValueError(), None),
        (TWICE, 0, tasks.TaskFailure("NO_STOCK"), 5),
        (TWICE, 0, tasks.TaskFailure("OTHER"), None),
        (RetryPolicy.fixed([5]), 0, tasks.TaskFailure("OTHER"), None),
        (TWICE, 0, tasks.Retry(), 5),
        (TWICE, 0, tasks.Retry(delay=2.5), 2.5),
        (TWICE, 0, tasks.Retry(delay=timedelta(minutes=2)), 120),
        (TWICE, 2, tasks.Retry(delay=1), None),
        (None, 0, tasks.Retry(delay=1), None),
        (TWICE, 0, SystemExit(1), None),
    ],
)
def test_an_exception_is_retried_as_the_policy_says(policy, retry_count, error, delay):
    ending = decide(raised(error), a_claim(policy, retry_count))
    assert ending.retry_delay == (None if delay is None else timedelta(seconds=delay))
    assert ending.status == ("FAILED" if delay is None else "PENDING")
    assert (ending.attempt.outcome, ending.attempt.will_retry) == ("FAILED", delay is not None)


@pytest.mark.django_db
def test_functions_and_coroutines_run_and_their_results_are_kept():
    for declared in (tasks.add, tasks.add_async):
        result = declared.enqueue(1, b=2)
        testing.drain()
        result.refresh()
        assert (result.return_value, Task.objects.get(pk=result.id).result) == (3, 3)


@pytest.mark.django_db
def test_the_context_knows_its_attempt_and_keeps_progress():
    result = tasks.describe_context.enqueue("halfway")
    testing.drain()
    result.refresh()
    assert result.return_value == [1, 1, result.id, False]
    assert result.progress == {"fraction": 0.5, "message": "halfway"}


@pytest.mark.django_db
def test_a_running_task_learns_that_it_is_cancelled():
    result = tasks.cancel_oneself.enqueue()
    testing.drain()
    result.refresh()
    assert result.return_value is True


@pytest.mark.django_db
def test_a_failure_is_kept_with_its_code_message_and_traceback():
    tasks.fail.enqueue("boom")
    tasks.fail_with_code.enqueue()
    first, second = testing.drain()
    assert (first.error_code, first.error_message) == ("UNHANDLED_EXCEPTION", "ValueError: boom")
    assert "raise ValueError(message)\nValueError: boom" in first.errors[0].traceback
    assert (second.error_code, second.error_message) == ("NO_STOCK", "the shelf is empty")


@pytest.mark.django_db
def test_retries_wait_and_then_give_up():
    seen = []
    receiver = lambda sender, task_result, **kwargs: seen.append(task_result.status)  # noqa: E731
    with receiving(receiver, task_retried):
        tasks.fail_with.enqueue("ConnectionError")
        testing.drain()
        waiting = Task.objects.get()
        assert (waiting.status, waiting.retry_count) == ("PENDING", 1)
        assert timedelta(seconds=4) < waiting.next_retry_at - timezone.now() <= timedelta(seconds=5)
        testing.drain(include_deferred=True)

    ended = Task.objects.get()
    assert (ended.status, ended.attempt_count, ended.retry_count, ended.claim_generation) == ("FAILED", 3, 2, 3)
    assert list(TaskAttempt.objects.order_by("number").values_list("number", "will_retry")) == [
        (1, True),
        (2, True),
        (3, False),
    ]
    assert seen == ["READY", "READY"]


@pytest.mark.django_db
def test_an_exception_the_policy_does_not_name_is_final():
    tasks.fail_with.enqueue("ValueError")
    testing.drain(include_deferred=True)
    assert Task.objects.get().attempt_count == 1


@pytest.mark.django_db
def test_a_task_may_ask_for_its_retry():
    tasks.ask_for_retry.enqueue(delay=30)
    testing.drain()
    wait = Task.objects.get().next_retry_at - timezone.now()
    assert timedelta(seconds=29) < wait <= timedelta(seconds=30)


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["tests.tasks.vanished", "tests.nowhere.add", "tests.tasks.not_a_task", "add"])
def test_a_task_type_that_is_gone_fails_with_its_name(name):
    TaskFactory(name=name)
    (result,) = testing.drain()
    assert result.error_code == "WORKER_RESOLUTION_ERROR"
    assert name in result.error_message
    with pytest.raises(TaskNotFound):
        resolve_task(name)


@pytest.mark.django_db
def test_a_claim_that_no_longer_holds_runs_nothing():
    tasks.create_group.enqueue("never")
    (held,) = claim(connection)
    Task.objects.update(claim_generation=7)

    assert perform(connection, held) is None
    assert not TaskAttempt.objects.exists()


@pytest.mark.django_db
def test_ctrl_c_means_the_process_and_not_the_task(monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    tasks.add.enqueue(1)
    monkeypatch.setattr("horsies_django.execution.run.resolve_task", interrupt)
    with pytest.raises(KeyboardInterrupt):
        testing.drain()
    assert Task.objects.get().status == "RUNNING"


@pytest.mark.django_db
def test_an_exception_no_database_could_keep_is_kept_all_the_same():
    for exception in ("NulInMessage", "HalfACharacter", "Unprintable", "Enormous"):
        tasks.raise_awkward.enqueue(exception)
    nul, half, unprintable, enormous = testing.drain()
    assert nul.error_message == "ValueError: a \\x00 b"
    assert half.error_message == "ValueError: a \\ud800 b"
    assert unprintable.error_message == "Unprintable: (its message cannot be shown)"
    assert "characters left out" in enormous.error_message
    assert len(enormous.error_message) < 11_000
    assert len(enormous.errors[0].traceback) < 101_000


@pytest.mark.django_db
def test_django_logs_a_failure_with_its_traceback(caplog):
    with caplog.at_level("INFO"):
        tasks.fail.enqueue("boom")
        testing.drain()
    (record,) = [record for record in caplog.records if record.levelname == "ERROR"]
    assert record.exc_info[0] is ValueError


@pytest.mark.django_db
def test_a_failure_without_a_code_is_an_exception_like_any_other():
    tasks.raise_careless.enqueue()
    (result,) = testing.drain()
    assert (result.error_code, result.error_message) == ("UNHANDLED_EXCEPTION", "no code")


@pytest.mark.django_db
def test_a_stored_policy_that_makes_no_sense_does_not_keep_a_task_running():
    tasks.fail_with.enqueue("ConnectionError")
    Task.objects.update(retry_policy={"delays": [], "auto_retry_for": ["builtins.Exception"], "nonsense": True})
    (result,) = testing.drain()
    assert (result.status, result.errors[0].exception_class) == ("FAILED", ConnectionError)
    tasks.fail_with.enqueue("ConnectionError")
    Task.objects.filter(status="PENDING").update(retry_policy=[1])
    (result,) = testing.drain()
    assert (result.status, result.errors[0].exception_class) == ("FAILED", ConnectionError)


@pytest.mark.django_db
def test_a_task_whose_backend_is_gone_from_the_settings_still_ends():
    tasks.add.enqueue(1)
    Task.objects.update(backend="gone")
    testing.run_next()
    assert Task.objects.get().status == "COMPLETED"


@pytest.mark.django_db
def test_a_task_that_fails_after_it_was_asked_to_stop_counts_as_cancelled():
    seen = []
    receiver = lambda task_result, **kwargs: seen.append(task_result.error_code)  # noqa: E731
    with receiving(receiver, task_cancelled):
        tasks.cancel_oneself_and_fail.enqueue()
        (result,) = testing.drain(include_deferred=True)
    assert (Task.objects.get().status, result.error_code, seen) == ("CANCELLED", "TASK_CANCELLED", ["TASK_CANCELLED"])
