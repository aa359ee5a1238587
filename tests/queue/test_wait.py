"""Waiting for a task to end."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from contextlib import closing
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import DatabaseError, OperationalError, connection, connections, transaction
from django.utils import timezone

from horsies_django import testing
from horsies_django.dialects import postgresql, sqlite
from horsies_django.exceptions import TaskNotFinished, WaitInsideTransaction
from horsies_django.models import Task
from tests import tasks


@pytest.fixture
def elsewhere():
    """Run a function in a thread with connections of its own, when somebody waits for a task."""
    threads = []

    def run(function):
        def body():
            try:
                wait_until_somebody_waits()
                function()
            finally:
                connections.close_all()

        threads.append(threading.Thread(target=body))
        threads[-1].start()

    yield run
    for thread in threads:
        thread.join()


def wait_until_somebody_waits():
    deadline = time.monotonic() + 20
    while connection.vendor == "postgresql" and not Task.objects.filter(awaited=True).exists():
        assert time.monotonic() < deadline


@pytest.mark.django_db(transaction=True)
def test_wait_returns_the_result_when_the_task_ends(elsewhere):
    result = tasks.add.enqueue(1, 2)
    elsewhere(testing.drain)

    assert result.wait(timeout=20) is result
    assert result.return_value == 3


@pytest.mark.django_db(transaction=True)
def test_wait_returns_when_the_task_fails_or_is_cancelled(elsewhere):
    failing, cancelled = tasks.fail.enqueue(), tasks.add.using(queue_name="idle").enqueue(1)
    elsewhere(testing.run_next)
    assert failing.wait(timeout=20).errors[0].exception_class is ValueError

    elsewhere(lambda: tasks.add.get_result(cancelled.id).cancel())
    assert cancelled.wait(timeout=20).error_code == "TASK_CANCELLED"


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_on_postgresql_the_end_is_heard_not_looked_for(elsewhere, monkeypatch):
    monkeypatch.setattr(postgresql, "POLL_SECONDS", 3600)
    result = tasks.add.enqueue(1, 2)
    elsewhere(testing.drain)

    assert result.wait().return_value == 3


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_on_postgresql_nobody_is_told_of_an_end_nobody_waits_for():
    with postgresql.listening(connection.alias, postgresql.FINISHED_CHANNEL) as listener:
        tasks.add.enqueue(1)
        testing.drain()

        assert list(listener.connection.notifies(timeout=0.2)) == []


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_a_lost_notification_only_delays(elsewhere, monkeypatch):
    monkeypatch.setattr(postgresql, "POLL_SECONDS", 0.05)
    monkeypatch.setattr(postgresql, "_mark_awaited", lambda *args: True)
    result = tasks.add.enqueue(1, 2)
    thread = threading.Thread(target=lambda: (testing.drain(), connections.close_all()))
    thread.start()
    try:
        assert result.wait(timeout=20).return_value == 3
    finally:
        thread.join()


@pytest.mark.django_db(transaction=True)
def test_wait_gives_up_with_an_error_that_says_where_the_task_is():
    result = tasks.add.using(queue_name="forgotten").enqueue(1)

    with pytest.raises(TaskNotFinished, match=r"not ended within 0.05 s: it is READY in queue 'forgotten'") as error:
        result.wait(timeout=0.05)
    assert isinstance(error.value, TimeoutError)


@pytest.mark.django_db
def test_a_task_that_has_ended_needs_no_waiting_even_inside_a_transaction():
    result = tasks.add.enqueue(1, 2)
    testing.drain()

    assert result.wait(timeout=0).return_value == 3


@pytest.mark.django_db(transaction=True)
def test_waiting_inside_the_transaction_that_enqueued_is_refused_at_once():
    with transaction.atomic():
        result = tasks.add.enqueue(1)
        with pytest.raises(WaitInsideTransaction, match="Wait after the atomic block"):
            result.wait()


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_on_postgresql_one_may_wait_inside_another_transaction(elsewhere):
    result = tasks.add.enqueue(1, 2)
    elsewhere(testing.drain)
    with transaction.atomic():
        assert result.wait(timeout=20).return_value == 3


@pytest.mark.django_db(transaction=True)
async def test_await_finished_does_the_same(elsewhere):
    result = await tasks.add.aenqueue(1, 2)
    elsewhere(testing.drain)

    assert await result.await_finished(timeout=20) is result
    assert result.return_value == 3
    assert await result.await_finished() is result


@pytest.mark.django_db(transaction=True)
async def test_await_finished_gives_up_too():
    result = await tasks.add.aenqueue(1)
    with pytest.raises(TaskNotFinished):
        await result.await_finished(timeout=0.05)


@pytest.mark.django_db(transaction=True)
async def test_the_event_loop_goes_on_and_a_cancelled_wait_leaves_no_thread_behind(monkeypatch):
    monkeypatch.setattr(postgresql, "POLL_SECONDS", 0.05)
    result = await tasks.add.aenqueue(1)

    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(result.await_finished(), timeout=0.2)

    deadline = time.monotonic() + 20
    while any(thread.name.startswith("horsies-wait") for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        await asyncio.sleep(0)


@pytest.mark.django_db(transaction=True)
def test_a_timeout_is_seconds_or_a_timedelta():
    result = tasks.add.enqueue(1)
    with pytest.raises(TypeError, match="timeout must be seconds, a timedelta or None, not '1'"):
        result.wait("1")
    with pytest.raises(TaskNotFinished):
        result.wait(timedelta(milliseconds=20))


@pytest.mark.sqlite
@pytest.mark.django_db(transaction=True)
def test_on_sqlite_no_transaction_is_a_place_to_wait():
    result = tasks.add.enqueue(1)
    with transaction.atomic(), pytest.raises(WaitInsideTransaction, match="keeps every worker from writing"):
        result.wait()


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_a_timeout_holds_while_the_row_is_locked_even_by_oneself():
    result = tasks.add.enqueue(1)
    Task.objects.update(status="RUNNING", started_at=timezone.now())
    with transaction.atomic():
        result.cancel()
        with pytest.raises(TaskNotFinished, match="it cannot end before that is over"):
            result.wait(timeout=0.3)


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_a_snapshot_from_before_the_end_is_called_by_its_name(elsewhere):
    result = tasks.add.enqueue(1)
    elsewhere(testing.drain)
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        with pytest.raises(WaitInsideTransaction, match="has ended, but this transaction began before that"):
            result.wait(timeout=20)
    assert result.wait().return_value == 1


@pytest.mark.django_db(transaction=True)
async def test_many_waits_at_once_wait_neither_for_each_other_nor_in_the_way_of_others():
    result = await tasks.add.aenqueue(1)
    results = [await tasks.add.aget_result(result.id) for _ in range(20)]
    waits = [asyncio.ensure_future(one.await_finished(timeout=60)) for one in results]
    deadline = time.monotonic() + 20
    while sum(thread.name.startswith("horsies-wait") for thread in threading.enumerate()) < len(waits):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)

    # All of them are under way, and the threads of the event loop are free.
    await asyncio.wait_for(asyncio.get_running_loop().run_in_executor(None, int), timeout=20)
    for wait in waits:
        wait.cancel()
    assert {type(outcome) for outcome in await asyncio.gather(*waits, return_exceptions=True)} == {
        asyncio.CancelledError
    }


@pytest.mark.sqlite
@pytest.mark.django_db
def test_a_locked_file_is_looked_at_again(tmp_path):
    file = tmp_path / "locked.sqlite3"
    reader = type(connections["default"])(
        {**connection.settings_dict, "NAME": file, "OPTIONS": {"timeout": 0.05}}, "default"
    )
    with closing(sqlite3.connect(file, isolation_level=None)) as other, closing(reader):
        other.execute("CREATE TABLE horsies_tasks (id, finished_at)")
        other.execute("BEGIN EXCLUSIVE")
        assert sqlite._has_ended(reader, UUID(int=1)) is False
        other.execute("COMMIT")
        assert sqlite._has_ended(reader, UUID(int=1)) is None
        other.execute("DROP TABLE horsies_tasks")
        with pytest.raises(OperationalError, match="no such table"):
            sqlite._has_ended(reader, UUID(int=1))


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_a_wait_commits_what_it_writes_even_where_the_project_does_not(monkeypatch):
    monkeypatch.setattr(connections, "settings", {"default": {**connection.settings_dict, "AUTOCOMMIT": False}})
    with postgresql.listening("default", postgresql.FINISHED_CHANNEL) as listener:
        assert listener.settings_dict["AUTOCOMMIT"] is False
        assert listener.get_autocommit() is True


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_a_listener_that_is_interrupted_stops_listening_and_one_that_is_lost_says_why():
    def channels(listener):
        with listener.cursor() as cursor:
            cursor.execute("SELECT pg_listening_channels()")
            return cursor.fetchall()

    def interrupted():
        with postgresql.listening("default", postgresql.FINISHED_CHANNEL) as listener:
            assert channels(listener) == [(postgresql.FINISHED_CHANNEL,)]
            raise KeyboardInterrupt

    def lost():
        with postgresql.listening("default", postgresql.FINISHED_CHANNEL) as listener, listener.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    closed = []
    with pytest.MonkeyPatch.context() as patch:
        wrapper = type(connections["default"])
        patch.setattr(wrapper, "close", lambda self: closed.append(channels(self)) or wrapper._close(self))
        with pytest.raises(KeyboardInterrupt):
            interrupted()
    assert closed == [[]]
    with pytest.raises(DatabaseError, match="terminating connection due to administrator command"):
        lost()
