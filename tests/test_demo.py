"""The sample tasks of the test project do what they say."""

from __future__ import annotations

import signal
import subprocess
import sys
from io import StringIO

import pytest
from django.core import mail
from django.core.management import call_command

from horsies_django import testing
from testproject.demo import tasks

pytestmark = pytest.mark.django_db


def test_send_receipt_sends_a_mail():
    with testing.inline():
        result = tasks.send_receipt.enqueue(7, email="a@example.com")
    assert result.return_value == "sent to a@example.com"
    assert mail.outbox[0].subject == "Receipt for order 7"


def test_sleep_slowly_tells_its_progress():
    with testing.inline():
        result = tasks.sleep_slowly.enqueue(seconds=0, steps=4)
    assert (result.return_value, result.progress) == (0, {"fraction": 0.75, "message": "step 4 of 4"})


def test_count_primes_counts():
    with testing.inline():
        assert tasks.count_primes.enqueue(100).return_value == 25


@pytest.mark.parametrize(("chance", "attempts"), [(0, 1), (1, 4)])
def test_fail_sometimes_fails_and_is_tried_again(chance, attempts):
    result = tasks.fail_sometimes.enqueue(chance)
    testing.drain(include_deferred=True)
    result.refresh()
    assert result.attempts == attempts


def test_kill_own_process_kills_the_process_it_is_in():
    code = """
import os
os.environ["DJANGO_SETTINGS_MODULE"] = "testproject.settings"
from testproject.demo.tasks import kill_own_process
kill_own_process.call()
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == -signal.SIGKILL


def test_coroutines_are_tasks_too():
    with testing.inline():
        assert tasks.greet_asynchronously.enqueue("Ada").return_value == "hello Ada"


@pytest.mark.django_db(transaction=True)
def test_the_demo_shows_how_every_task_ended():
    output = StringIO()
    call_command("demo", stdout=output)
    text = output.getvalue()
    assert "rolled back: 0 tasks" in text
    assert "one unique key: 1 task in" in text
    assert "1,000 at once: 1,000 tasks" in text
    assert "greet_asynchronously   SUCCESSFUL 'hello world'" in text
    assert "fail_sometimes         READY      builtins.ConnectionError" in text
    assert "waiting for their next attempt: 1 task" in text
