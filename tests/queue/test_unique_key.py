"""A unique key: at most one open task of a type has it."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from horsies_django import testing
from horsies_django.compat import task_enqueued
from horsies_django.models import Task
from horsies_django.states import OPEN, TERMINAL
from tests import tasks
from tests.factories import TaskFactory
from tests.processes import run_at_once
from tests.receivers import receiving


@pytest.mark.django_db
@pytest.mark.parametrize("status", OPEN)
def test_while_a_task_is_open_its_key_leads_to_it(status):
    row = TaskFactory(name="tests.tasks.add", args=[1], unique_key="key", status=status)

    result = tasks.add.using(unique_key="key").enqueue(2)

    assert result.id == str(row.id)
    assert result.args == [1]
    assert Task.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("status", TERMINAL)
def test_when_a_task_has_ended_its_key_is_free(status):
    TaskFactory(name="tests.tasks.add", unique_key="key", status=status)

    tasks.add.using(unique_key="key").enqueue(2)

    assert Task.objects.count() == 2


@pytest.mark.django_db
def test_a_key_belongs_to_one_task_type():
    first = tasks.add.using(unique_key="key").enqueue(1)
    second = tasks.noop.using(unique_key="key").enqueue(1)
    third = tasks.add.using(unique_key="other").enqueue(1)

    assert len({first.id, second.id, third.id}) == 3


@pytest.mark.django_db
def test_the_second_enqueueing_is_no_event():
    seen = []
    receiver = lambda task_result, **kwargs: seen.append(task_result.id)  # noqa: E731
    with receiving(receiver, task_enqueued):
        first = tasks.add.using(unique_key="key").enqueue(1)
        tasks.add.using(unique_key="key").enqueue(1)

    assert seen == [first.id]


@pytest.mark.django_db
def test_a_key_can_be_used_again_after_the_task_ran():
    task = tasks.add.using(unique_key="key")
    first = task.enqueue(1)
    testing.drain()

    assert task.enqueue(1).id != first.id


@pytest.mark.django_db
def test_the_database_itself_refuses_a_second_open_task():
    TaskFactory(unique_key="key")
    with pytest.raises(IntegrityError), transaction.atomic():
        TaskFactory(unique_key="key", status="RUNNING")


@pytest.mark.django_db(transaction=True)
def test_eight_processes_that_enqueue_the_same_key_make_one_task():
    code = "from tests import tasks; print(tasks.add.using(unique_key='same').enqueue(1).id)"

    ids = run_at_once(code, 8)

    assert Task.objects.count() == 1
    assert {output.strip() for output in ids} == {str(Task.objects.get().id)}


@pytest.mark.django_db(transaction=True)
def test_enqueueing_waits_for_a_transaction_that_has_the_key_and_takes_it_when_that_is_rolled_back():
    code = """
from django.db import transaction
from tests import tasks
for _ in range(20):
    try:
        with transaction.atomic():
            tasks.add.using(unique_key="contested").enqueue(1)
            raise RuntimeError
    except RuntimeError:
        pass
print(tasks.add.using(unique_key="contested").enqueue(1).id)
"""
    outputs = run_at_once(code, 4)

    assert {output.strip() for output in outputs} == {str(Task.objects.get().id)}
