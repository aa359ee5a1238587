"""PostgreSQL tells workers of new tasks: once a transaction and queue, when it commits."""

from __future__ import annotations

import pytest
from django.db import connection, transaction

from horsies_django import enqueue_many
from horsies_django.dialects.postgresql import ENQUEUED_CHANNEL, listening
from tests import tasks

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def heard():
    with listening(connection.alias, ENQUEUED_CHANNEL) as listener:
        yield lambda: sorted(note.payload for note in listener.connection.notifies(timeout=0.2))


def test_one_notification_a_transaction_and_queue_at_commit(heard):
    with transaction.atomic():
        for number in range(5):
            tasks.add.using(queue_name="a").enqueue(number)
            tasks.add.using(queue_name="b").enqueue(number)
        enqueue_many(tasks.add.using(queue_name="b"), [((n,), {}) for n in range(5000)])
        assert heard() == []

    assert heard() == ["a", "b"]


def test_outside_a_transaction_each_task_tells_of_itself(heard):
    tasks.add.enqueue(1)
    tasks.add.enqueue(2)

    assert heard() == ["default", "default"]


def test_a_rolled_back_transaction_tells_nothing(heard):
    with transaction.atomic():
        tasks.add.enqueue(1)
        transaction.set_rollback(True)

    assert heard() == []


def test_a_task_that_was_there_already_tells_nothing(heard):
    task = tasks.add.using(unique_key="key")
    task.enqueue(1)
    heard()
    task.enqueue(1)

    assert heard() == []
