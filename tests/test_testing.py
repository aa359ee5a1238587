"""The tools for users' own test suites, tried as users would."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import Group
from django.db import IntegrityError, transaction
from django.test import TestCase, TransactionTestCase, override_settings

from horsies_django import enqueue_many, testing
from horsies_django.backend import HorsiesBackend
from horsies_django.models import Task
from tests import tasks


class OurOwnBackend(HorsiesBackend):
    """As a project may have one."""


class InsideATestCase(TestCase):
    def test_drain_runs_what_is_due_and_what_that_enqueues(self):
        tasks.enqueue_next.enqueue(3)

        results = testing.drain()

        self.assertEqual([result.args for result in results], [[3], [2], [1], [0]])
        self.assertEqual(Task.objects.filter(status="COMPLETED").count(), 4)

    def test_run_next_runs_one_task_by_priority(self):
        tasks.add.enqueue(1)
        tasks.add.using(priority=5).enqueue(2)

        self.assertEqual(testing.run_next().return_value, 2)
        self.assertEqual(testing.run_next().return_value, 1)
        self.assertIsNone(testing.run_next())

    def test_one_queue_only(self):
        tasks.add.using(queue_name="a").enqueue(1)
        tasks.add.using(queue_name="b").enqueue(2)

        self.assertEqual([r.args for r in testing.drain(queue_name="b")], [[2]])
        self.assertIsNone(testing.run_next(queue_name="b"))

    def test_deferred_tasks_wait_unless_they_are_included(self):
        tasks.add.using(run_after=timedelta(days=1)).enqueue(1)

        self.assertEqual(testing.drain(), [])
        self.assertEqual([r.return_value for r in testing.drain(include_deferred=True)], [1])

    def test_a_task_that_enqueues_itself_for_ever_is_stopped(self):
        tasks.enqueue_next.enqueue(1000)
        with self.assertRaisesMessage(AssertionError, "does tests.tasks.enqueue_next enqueue itself?"):
            testing.drain(limit=5)

    def test_the_limit_may_be_reached(self):
        for number in range(3):
            tasks.add.enqueue(number)
        tasks.add.using(run_after=timedelta(days=1)).enqueue(4)
        tasks.add.using(queue_name="other").enqueue(5)
        self.assertEqual(len(testing.drain(limit=3, queue_name="default")), 3)

    def test_a_wrong_argument_is_told_as_enqueue_would(self):
        with self.assertRaisesMessage(TypeError, "cannot be enqueued with these arguments"):
            testing.assert_enqueued(tasks.add, aa=1)

    def test_a_database_error_in_a_task_does_not_take_the_test_with_it(self):
        Group.objects.create(name="taken")
        tasks.create_group.enqueue("taken")

        (result,) = testing.drain()

        self.assertIs(result.errors[0].exception_class, IntegrityError)
        self.assertEqual(Group.objects.count(), 1)

    def test_what_a_failing_task_wrote_before_stays_as_it_would_with_a_worker(self):
        tasks.create_group_and_fail.enqueue("half done")

        (result,) = testing.drain()

        self.assertIs(result.errors[0].exception_class, ValueError)
        self.assertTrue(Group.objects.filter(name="half done").exists())

    def test_a_task_that_marks_the_transaction_for_rollback_is_contained(self):
        tasks.break_transaction.enqueue()

        testing.drain()

        self.assertEqual(Group.objects.count(), 0)

    def test_what_a_broken_task_wanted_done_on_commit_is_not_done(self):
        Group.objects.create(name="taken")
        tasks.enqueue_on_commit_and_break.enqueue("taken")
        with self.captureOnCommitCallbacks() as callbacks:
            (result,) = testing.drain()
        self.assertIs(result.errors[0].exception_class, IntegrityError)
        self.assertEqual(callbacks, [])

    def test_inline_runs_each_task_as_it_is_enqueued(self):
        waiting = tasks.add.enqueue(0)
        with testing.inline():
            result = tasks.add.enqueue(1, 2)
            many = enqueue_many(tasks.add, [((n,), {}) for n in range(3)])
            deferred = tasks.add.using(run_after=timedelta(days=1)).enqueue(1)
        after = tasks.add.enqueue(1)

        self.assertEqual(result.return_value, 3)
        self.assertEqual([r.return_value for r in many], [0, 1, 2])
        for untouched in (waiting, deferred, after):
            untouched.refresh()
            self.assertFalse(untouched.is_finished)

    def test_assert_enqueued_returns_the_result(self):
        expected = tasks.add.enqueue(1, b=2)
        tasks.add.enqueue(5)

        for found in (testing.assert_enqueued(tasks.add, 1, 2), testing.assert_enqueued(tasks.add, a=1, b=2)):
            self.assertEqual(found.id, expected.id)

    def test_assert_enqueued_compares_values_and_not_how_they_are_written(self):
        tasks.noop.enqueue(subject=1, to=2)
        testing.assert_enqueued(tasks.noop, to=2, subject=1)
        tasks.add.enqueue({"bb": 1, "a": (1e20,)})
        testing.assert_enqueued(tasks.add, {"a": [1e20], "bb": 1}, 0)
        tasks.wrapped_with_context.enqueue(1, 2)
        testing.assert_enqueued(tasks.wrapped_with_context, 1, 2)
        with self.assertRaisesMessage(AssertionError, "was not enqueued with"):
            testing.assert_enqueued(tasks.wrapped_with_context, 99, 98)
        tasks.default_is_no_json.enqueue(1)
        testing.assert_enqueued(tasks.default_is_no_json, number=1)
        tasks.takes_a_task.enqueue(task=1)
        testing.assert_enqueued(tasks.takes_a_task, task=1)

    def test_inline_works_with_a_backend_made_of_ours(self):
        with (
            override_settings(TASKS={"default": {"BACKEND": "tests.test_testing.OurOwnBackend", "QUEUES": []}}),
            testing.inline(),
        ):
            self.assertEqual(tasks.add.enqueue(1).return_value, 1)

    def test_assert_enqueued_tells_what_was_enqueued_instead(self):
        with self.assertRaisesMessage(AssertionError, "No task was enqueued at all."):
            testing.assert_enqueued(tasks.add, 1)
        tasks.noop.enqueue()
        with self.assertRaisesMessage(AssertionError, "Enqueued were: tests.tasks.noop."):
            testing.assert_enqueued(tasks.add, 1)
        tasks.add.enqueue(7)
        with self.assertRaisesMessage(AssertionError, "with (a=1, b=0).\nIt was enqueued with:\n  (a=7, b=0)"):
            testing.assert_enqueued(tasks.add, 1)

    def test_assert_enqueued_also_finds_what_has_run(self):
        tasks.describe_context.enqueue("word")
        testing.drain()
        self.assertTrue(testing.assert_enqueued(tasks.describe_context, "word").is_finished)

    def test_enqueued_lists_what_is_there(self):
        ids = [tasks.add.enqueue(n).id for n in range(3)]
        tasks.noop.enqueue()
        self.assertEqual([r.id for r in testing.enqueued(tasks.add)], ids)
        self.assertEqual(len(testing.enqueued()), 4)


class OutsideATransaction(TransactionTestCase):
    def test_everything_works_there_too(self):
        with transaction.atomic():
            tasks.create_group.enqueue("made")
        with testing.inline():
            self.assertEqual(tasks.add.enqueue(1).return_value, 1)
        testing.drain()
        self.assertTrue(Group.objects.filter(name="made").exists())
        tasks.create_group.enqueue("made")
        (result,) = testing.drain()
        self.assertIs(result.errors[0].exception_class, IntegrityError)


@pytest.mark.django_db
def test_it_works_with_pytest():
    tasks.add.enqueue(1)
    assert testing.assert_enqueued(tasks.add, 1)
