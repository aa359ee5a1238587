"""A process that is killed after any of its statements leaves nothing half done."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from horsies_django.models import Task, TaskAttempt
from tests import tasks
from tests.processes import database_url

pytestmark = pytest.mark.django_db(transaction=True)

# SIGKILL after the given number of statements, BEGIN and COMMIT not counted: Django sends those itself.
KILL_AFTER = """
import os, signal, sys
import django
django.setup()
from django.db import connection, transaction
statements = 0
def count(execute, sql, params, many, context):
    global statements
    result = execute(sql, params, many, context)
    statements += 1
    if statements == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
    return result
connection.ensure_connection()
connection.execute_wrappers.append(count)
from horsies_django import enqueue_many
from tests import tasks
"""

ENQUEUE = """
with transaction.atomic():
    tasks.add.using(unique_key="key").enqueue(1)
    enqueue_many(tasks.add, [((number,), {}) for number in range(5000)])
"""

ENQUEUE_MANY = """
enqueue_many(tasks.add, [((number,), {}) for number in range(5000)])
"""

RUN = """
from horsies_django import testing
testing.drain()
"""


def run_and_kill_after(statements: int, code: str) -> bool:
    """Run the code in a process of its own; return whether it lived to its end."""
    env = {**os.environ, "DATABASE_URL": database_url(), "DJANGO_SETTINGS_MODULE": "testproject.settings"}
    done = subprocess.run([sys.executable, "-c", KILL_AFTER + code, str(statements)], env=env)
    assert done.returncode in (0, -signal.SIGKILL)
    return done.returncode == 0


def test_enqueueing_is_all_or_nothing_whenever_it_is_killed():
    for statements in range(1, 20):
        survived = run_and_kill_after(statements, ENQUEUE)
        assert Task.objects.count() == (5001 if survived else 0)
        if survived:
            break
    assert survived
    assert statements > 3
    # The key is taken by the one that lived, not by those that died.
    assert tasks.add.using(unique_key="key").enqueue(1).id == str(Task.objects.get(unique_key="key").id)


def test_enqueue_many_is_all_or_nothing_without_a_transaction_around_it():
    for statements in range(1, 20):
        survived = run_and_kill_after(statements, ENQUEUE_MANY)
        assert Task.objects.count() == (5000 if survived else 0)
        if survived:
            break
    assert survived
    assert statements > 3


def test_running_a_task_leaves_a_state_that_recovery_can_settle_whenever_it_is_killed():
    seen = set()
    for statements in range(1, 40):
        Task.objects.all().delete()
        tasks.add.enqueue(1)
        survived = run_and_kill_after(statements, RUN)
        task = Task.objects.get()
        attempts = list(TaskAttempt.objects.filter(task=task).values_list("outcome", flat=True))
        seen.add(task.status)
        assert attempts == (["COMPLETED"] if task.status == "COMPLETED" else [])
        assert (task.started_at is not None) == (task.status in ("RUNNING", "COMPLETED"))
        if survived:
            break
    assert survived
    assert seen == {"PENDING", "CLAIMED", "RUNNING", "COMPLETED"}
