"""PENDING → CLAIMED: in which order, and which not."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from horsies_django.models import Task
from horsies_django.queue.claim import claim, claim_one
from horsies_django.states import TaskStatus
from tests import tasks
from tests.factories import TaskFactory, WorkerFactory
from tests.processes import run_at_once

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def claimed_args(**kwargs):
    return [c.args for c in claim(connection, limit=10, **kwargs)]


def test_a_claim_raises_the_generation_and_names_the_worker():
    worker = WorkerFactory()
    result = tasks.add.enqueue(1, b=2)

    (held,) = claim(connection, worker_id=worker.id)

    row = Task.objects.get(pk=result.id)
    assert (row.status, row.claim_generation, row.worker) == ("CLAIMED", 1, worker)
    assert row.claimed_at >= row.enqueued_at
    assert (held.task_id, held.generation, held.args, held.kwargs) == (row.id, 1, [1], {"b": 2})


@pytest.mark.parametrize("limit", [1, 2, 10])
def test_higher_priority_first_then_older_first_across_queues(limit):
    for priority, queue, number in [(0, "b", 1), (5, "a", 2), (0, "a", 3), (-5, "b", 4), (5, "b", 5)]:
        tasks.add.using(priority=priority, queue_name=queue).enqueue(number)

    claimed = []
    while claims := claim(connection, limit=limit):
        claimed += [c.args for c in claims]
    assert claimed == [[2], [5], [1], [3], [4]]


def test_tasks_of_one_statement_keep_their_order():
    from horsies_django import enqueue_many

    enqueue_many(tasks.add, [((n,), {}) for n in range(30)])

    assert claimed_args() == [[n] for n in range(10)]
    assert claimed_args() == [[n] for n in range(10, 20)]


def test_only_the_queues_named():
    tasks.add.using(queue_name="a").enqueue(1)
    tasks.add.using(queue_name="b").enqueue(2)

    assert claimed_args(queues=["b", "c"]) == [[2]]
    assert claimed_args(queues=[]) == []


def test_what_is_not_due_is_left_alone():
    now = timezone.now()
    TaskFactory(args=["due"], run_after=now - HOUR, next_retry_at=now - HOUR, expires_at=now + HOUR)
    TaskFactory(args=["later"], run_after=now + HOUR)
    TaskFactory(args=["retry later"], next_retry_at=now + HOUR)
    TaskFactory(args=["expired"], expires_at=now - HOUR)
    for status in set(TaskStatus) - {TaskStatus.PENDING}:
        TaskFactory(args=[status], status=status)

    assert claimed_args() == [["due"]]
    assert sorted(claimed_args(due_only=False)) == [["later"], ["retry later"]]


def test_one_task_by_its_id():
    first, second = tasks.add.enqueue(1), tasks.add.enqueue(2)

    held = claim_one(connection, Task.objects.get(pk=second.id).id)

    assert held is not None
    assert held.args == [2]
    assert claim_one(connection, held.task_id) is None
    assert claimed_args() == [[1]]
    assert first.id != second.id


@pytest.mark.django_db(transaction=True)
def test_processes_that_claim_at_once_never_share_a_task():
    from horsies_django import enqueue_many

    enqueue_many(tasks.add, [((n,), {}) for n in range(200)])
    code = """
from django.db import connection
from horsies_django.queue.claim import claim
numbers = []
while claims := claim(connection, limit=7):
    numbers += [c.args[0] for c in claims]
print(*numbers)
"""
    numbers = [int(number) for output in run_at_once(code, 4) for number in output.split()]

    assert sorted(numbers) == list(range(200))
    assert set(Task.objects.values_list("status", "claim_generation")) == {("CLAIMED", 1)}


def test_there_may_be_many_queues():
    for number in range(900):
        TaskFactory(queue_name=f"queue-{number:03}", args=[number])
    claimed = [c.args[0] for c in claim(connection, limit=1_000)]
    assert sorted(claimed) == list(range(900))
