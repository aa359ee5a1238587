"""What Django's task framework expects of a backend, and the traps it sets for one."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from importlib import import_module

import django
import pytest
from django.db import connections
from django.test import override_settings
from django.utils import timezone

from horsies_django import HorsiesTask, task, testing
from horsies_django.backend import HorsiesBackend
from horsies_django.compat import (
    InvalidTask,
    InvalidTaskBackend,
    TaskResultDoesNotExist,
    TaskResultMismatch,
    TaskResultStatus,
    task_backends,
    task_finished,
    task_started,
)
from horsies_django.ids import uuid7
from horsies_django.models import Task
from tests import tasks
from tests.factories import TaskFactory
from tests.receivers import receiving

pytestmark = pytest.mark.django_db
DJANGO_TASKS = "django.tasks" if django.VERSION >= (6, 0) else "django_tasks"


def test_the_backend_supports_all_that_django_asks_for():
    backend = task_backends["default"]
    assert isinstance(backend, HorsiesBackend)
    assert backend.supports_defer
    assert backend.supports_async_task
    assert backend.supports_get_result
    assert backend.supports_priority
    assert list(backend.check()) == []


def test_an_enqueued_task_is_as_django_describes_it():
    for declared in (tasks.noop, tasks.add_async):
        result = declared.enqueue(1)
        assert (result.status, result.is_finished, result.attempts) == (TaskResultStatus.READY, False, 0)
        assert (result.started_at, result.finished_at, result.last_attempted_at) == (None, None, None)
        assert (result.task, result.args, result.kwargs, result.errors) == (declared, [1], {}, [])
        assert timezone.is_aware(result.enqueued_at)
        with pytest.raises(ValueError, match="Task has not finished yet"):
            _ = result.return_value


def test_a_result_can_be_had_again_and_refreshed():
    result = tasks.add.enqueue(1, b=2)
    assert tasks.add.get_result(result.id) == result
    before = dataclasses.asdict(result)
    result.refresh()
    assert dataclasses.asdict(result) == before

    testing.drain()
    assert result.status == TaskResultStatus.READY
    result.refresh()
    assert (result.status, result.return_value, result.attempts) == (TaskResultStatus.SUCCESSFUL, 3, 1)


async def test_a_result_can_be_refreshed_asynchronously():
    result = await tasks.add.aenqueue(1)
    await result.arefresh()
    assert result.status == TaskResultStatus.READY
    assert await result.acancel() is True
    assert result.error_code == "TASK_CANCELLED"


def test_a_result_with_options_comes_back_equal():
    task = tasks.add.using(priority=3, queue_name="q", timeout=5, unique_key="k", idempotent=True, max_attempts=2)
    result = task.enqueue(1)
    assert tasks.add.get_result(result.id) == result


def test_a_task_and_its_result_can_be_pickled():
    result = tasks.add.using(timeout=3, max_attempts=2).enqueue(1)
    assert pickle.loads(pickle.dumps(result)) == result
    assert pickle.loads(pickle.dumps(tasks.add)) == tasks.add


# The traps, in the order of our notes about rivals


def test_trap_1_a_task_type_can_be_declared_before_models_are_loaded():
    code = """
import sys
from django.conf import settings
settings.configure(
    INSTALLED_APPS=["horsies_django"],
    TASKS={"default": {"BACKEND": "horsies_django.backend.HorsiesBackend", "QUEUES": []}},
)
from testproject.demo import tasks
assert type(tasks.send_receipt).__name__ == "HorsiesTask"
assert "horsies_django.models" not in sys.modules
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_trap_2_every_thread_has_a_backend_of_its_own_and_nothing_is_kept_on_it():
    result = tasks.add.enqueue(1)
    backend = task_backends["default"]
    state = dict(vars(backend))
    seen = []
    thread = threading.Thread(target=lambda: seen.append(task_backends["default"]))
    thread.start()
    thread.join()

    assert seen[0] is not backend
    assert backend.get_result(result.id) == result
    assert vars(backend) == state


def test_trap_3_a_task_is_validated_again_when_it_is_enqueued():
    task = tasks.add.using(queue_name="gone")
    backend = {"BACKEND": "horsies_django.backend.HorsiesBackend", "QUEUES": ["default"]}
    with (
        override_settings(TASKS={"default": backend}),
        pytest.raises(InvalidTask, match="Queue 'gone' is not valid for backend"),
    ):
        task.enqueue(1)
    expires = timezone.now() + timedelta(milliseconds=20)
    expired = tasks.add.using(expires=expires)
    while timezone.now() <= expires:
        pass
    with pytest.raises(InvalidTask, match="expires must be in the future"):
        expired.enqueue(1)


def test_trap_4_arguments_and_results_are_json():
    result = tasks.noop.enqueue((1, (2,)), x=(3,))
    assert (result.args, result.kwargs) == ([[1, [2]]], {"x": [3]})
    with pytest.raises(TypeError, match="Unsupported type"):
        tasks.noop.enqueue(datetime.now(UTC))
    no_json = tasks.return_no_json.enqueue()
    testing.drain()
    no_json.refresh()
    assert (no_json.status, no_json.error_code) == (TaskResultStatus.FAILED, "WORKER_SERIALIZATION_ERROR")
    assert "the result['numbers'][1]" in no_json.error_message
    assert "<class 'set'>" in no_json.error_message


def test_trap_5_started_at_is_the_first_attempt_and_errors_has_one_entry_a_failed_attempt():
    result = tasks.fail_with.enqueue("ConnectionError")
    testing.drain(include_deferred=True)
    result.refresh()

    starts = list(Task.objects.get().attempts.order_by("number").values_list("started_at", flat=True))
    assert len(starts) == 3
    assert (result.started_at, result.last_attempted_at) == (starts[0], starts[-1])
    assert [error.exception_class for error in result.errors] == [ConnectionError] * 3
    assert "no luck" in result.errors[0].traceback


def test_trap_6_the_running_attempt_counts():
    row = TaskFactory(status="RUNNING", name="tests.tasks.add", attempts=1, attempts__outcome="FAILED", attempt_count=2)
    TaskFactory._meta.model.objects.filter(pk=row.pk).update(claim_generation=2)

    result = tasks.add.get_result(str(row.id))
    assert (result.attempts, result.worker_ids) == (2, [str(row.worker_id)] * 2)
    assert (result.started_at, result.last_attempted_at) == (row.started_at, row.started_at)


def test_trap_7_run_after_takes_a_timedelta():
    assert tasks.add.using(run_after=timedelta(hours=1)).run_after == timedelta(hours=1)
    other = {"BACKEND": f"{DJANGO_TASKS}.backends.dummy.DummyBackend", "QUEUES": []}
    with override_settings(TASKS={"default": other}):
        moment = tasks.add.using(run_after=timedelta(hours=1)).run_after
        assert timedelta(minutes=59) < moment - timezone.now() <= timedelta(hours=1)


@pytest.mark.parametrize("result_id", ["123", "", "01a1ee2f-c649-74a6-8e13-49cee1d6f348", "x" * 500, None])
def test_trap_8_an_unknown_or_malformed_id_does_not_exist(result_id):
    with pytest.raises(TaskResultDoesNotExist):
        tasks.add.get_result(result_id)


def test_trap_9_system_exit_means_failed():
    result = tasks.exit_process.enqueue()
    testing.drain()
    result.refresh()
    assert (result.status, result.errors[0].exception_class) == (TaskResultStatus.FAILED, SystemExit)


def test_trap_10_the_sender_of_signals_is_the_backend_class_and_receivers_may_break():
    seen = []

    def receiver(sender, task_result, signal, **kwargs):
        seen.append((sender, task_result.status))
        raise RuntimeError("a broken receiver")

    with receiving(receiver, task_started, task_finished):
        tasks.add.enqueue(1)
        testing.drain()

    assert seen == [
        (HorsiesBackend, TaskResultStatus.RUNNING),
        (HorsiesBackend, TaskResultStatus.SUCCESSFUL),
    ]


def test_trap_11_our_task_class_is_as_frozen_and_slotted_as_djangos():
    assert HorsiesTask.__dataclass_params__.frozen
    assert all(field.kw_only for field in dataclasses.fields(HorsiesTask))
    assert not hasattr(tasks.add, "__dict__")
    with pytest.raises(dataclasses.FrozenInstanceError):
        tasks.add.priority = 3
    changed = tasks.add.using(timeout=3).using(priority=4)
    assert (changed.timeout, changed.priority, tasks.add.timeout) == (3, 4, None)
    assert tasks.add.using() == tasks.add
    assert tasks.add.using() is not tasks.add


@pytest.mark.django_db(databases=["default"])
def test_trap_12_the_row_is_read_on_the_database_it_was_written_to(settings):
    class Replica:
        def db_for_read(self, model, **hints):
            raise AssertionError("the router was asked where to read")

    settings.DATABASE_ROUTERS = [Replica()]
    result = tasks.add.enqueue(1)
    testing.drain()
    result.refresh()
    assert result.is_finished
    assert connections["default"].alias == "default"


# And what else Django's own tests ask of any backend


def test_a_result_of_another_task_is_a_mismatch():
    result = tasks.noop.enqueue()
    with pytest.raises(TaskResultMismatch, match="Task does not match"):
        tasks.add.get_result(result.id)


def test_an_unknown_backend_is_refused():
    with pytest.raises(InvalidTaskBackend, match="'unknown' doesn't exist"):
        tasks.add.using(backend="unknown")


def test_enqueueing_is_logged_by_django(caplog):
    with caplog.at_level("DEBUG", logger=DJANGO_TASKS):
        result = tasks.add.enqueue(1)
    assert [result.id in message and "enqueued" in message for message in caplog.messages] == [True]


def test_a_task_can_still_be_called():
    assert tasks.add.call(1, 2) == 3
    assert tasks.add_async.call(1, 2) == 3


async def test_a_task_can_still_be_called_asynchronously():
    assert await tasks.add.acall(1, 2) == 3
    assert await tasks.add_async.acall(1, 2) == 3


def test_djangos_own_decorator_makes_our_tasks():
    declared = import_module(DJANGO_TASKS).task(priority=5)(tasks.plain_function)
    assert isinstance(declared, HorsiesTask)
    result = declared.enqueue()
    testing.drain()
    result.refresh()
    assert (result.return_value, Task.objects.get().priority) == ("plain", 5)


def test_a_task_of_ours_runs_on_djangos_other_backends():
    immediate = {"BACKEND": f"{DJANGO_TASKS}.backends.immediate.ImmediateBackend", "QUEUES": []}
    with override_settings(TASKS={"default": immediate}):
        assert tasks.add.enqueue(1, 2).return_value == 3
        from horsies_django import enqueue_many

        assert [r.return_value for r in enqueue_many(tasks.add, [((1,), {}), ((2,), {"b": 2})])] == [1, 4]
    assert not Task.objects.exists()


def test_several_aliases_may_use_the_backend():
    backend = {"BACKEND": "horsies_django.backend.HorsiesBackend", "QUEUES": ["default", "special"]}
    with override_settings(TASKS={"default": backend, "other": backend}):
        result = tasks.add.using(backend="other", queue_name="special").enqueue(1)
        assert (result.backend, Task.objects.get().backend) == ("other", "other")
        assert tasks.add.get_result(result.id).backend == "other"


def test_results_of_a_task_type_that_is_gone_stay_readable():
    row = TaskFactory(name="tests.gone.tasks.vanished", status="COMPLETED", result=[1])
    result = task_backends["default"].get_result(str(row.id))
    assert (result.task.module_path, result.return_value) == ("tests.gone.tasks.vanished", [1])
    with pytest.raises(Exception, match="no task 'tests.gone.tasks.vanished' here"):
        result.task.call()


def test_a_row_written_under_other_settings_stays_readable():
    result = tasks.add.using(queue_name="old").enqueue(1)
    backend = {"BACKEND": "horsies_django.backend.HorsiesBackend", "QUEUES": ["default"]}
    with override_settings(TASKS={"default": backend}):
        assert tasks.add.get_result(result.id).task.queue_name == "old"


def test_states_map_to_djangos():
    expected = {
        "PENDING": "READY",
        "CLAIMED": "READY",
        "RUNNING": "RUNNING",
        "COMPLETED": "SUCCESSFUL",
        "FAILED": "FAILED",
        "CANCELLED": "FAILED",
        "EXPIRED": "FAILED",
    }
    for status, django_status in expected.items():
        row = TaskFactory(status=status)
        result = task_backends["default"].get_result(str(row.id))
        assert (status, result.status) == (status, django_status)
        assert bool(result.errors) == (django_status == "FAILED")


def test_cancelling_what_does_not_exist_says_so():
    for result_id in ("nonsense", str(uuid7())):
        with pytest.raises(TaskResultDoesNotExist):
            task_backends["default"].cancel(result_id)


def test_cancel_tells_whether_it_was_in_time():
    result = tasks.add.enqueue(1)
    assert result.cancel() is True
    assert (result.status, result.errors[0].exception_class.__name__) == (TaskResultStatus.FAILED, "TaskCancelled")
    assert result.cancel() is False
    assert testing.drain() == []


def test_the_decorator_needs_no_parentheses_and_takes_them():
    assert task(tasks.plain_function) == task()(tasks.plain_function)


def test_djangos_own_task_may_be_moved_to_our_backend():
    django_task = import_module(f"{DJANGO_TASKS}.base").Task
    plain = django_task(func=tasks.plain_function, priority=0, backend="default", queue_name="default", run_after=None)
    result = plain.enqueue()
    testing.drain()
    result.refresh()
    assert result.return_value == "plain"
