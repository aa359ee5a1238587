"""Declaring task types, and what is refused there."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import django
import pytest
from django.test import override_settings
from django.utils import timezone

from horsies_django import RetryPolicy, task
from horsies_django.compat import InvalidTask
from tests import tasks
from tests.tasks import plain_function

DJANGO_TASKS = "django.tasks" if django.VERSION >= (6, 0) else "django_tasks"
BACKEND = "horsies_django.backend.HorsiesBackend"


class Holder:
    def method(self): ...


def test_the_decorator_takes_all_options():
    policy = RetryPolicy.exponential()
    declared = task(
        queue_name="mail", priority=3, timeout=60, expires=3600, retry=policy, unique_key="k", idempotent=True
    )(plain_function)
    assert (declared.queue_name, declared.priority, declared.timeout, declared.expires) == ("mail", 3, 60, 3600)
    assert (declared.retry, declared.unique_key, declared.idempotent) == (policy, "k", True)
    assert (declared.name, declared.module_path) == ("plain_function", "tests.tasks.plain_function")


def test_the_shorthand_makes_a_policy():
    declared = task(max_attempts=5, backoff=30)(plain_function)
    assert (declared.retry.max_retries, declared.retry.delays) == (4, (30,))
    assert tasks.add.using(backoff=[1, 2]).retry == RetryPolicy.fixed([1, 2])
    assert declared.using(max_attempts=1).retry is None


def test_policy_and_shorthand_exclude_each_other():
    for declare in (task, tasks.add.using):
        with pytest.raises(TypeError, match="either retry= or its shorthand"):
            declare(retry=RetryPolicy.exponential(), max_attempts=3)


def test_none_clears_an_option():
    declared = task(timeout=5, expires=5, unique_key="k", retry=RetryPolicy.exponential())(plain_function)
    cleared = declared.using(timeout=None, expires=None, unique_key=None, retry=None)
    assert cleared == task(plain_function)
    assert declared.using() == declared


@pytest.mark.parametrize("declare", [task, tasks.add.using])
@pytest.mark.parametrize(
    ("option", "nearest"),
    [("timeuot", "timeout"), ("queue", "queue_name"), ("prioritiy", "priority"), ("retries", "retry")],
)
def test_an_unknown_option_is_answered_with_the_nearest(declare, option, nearest):
    with pytest.raises(TypeError, match=f"has no '{option}'. Did you mean '{nearest}'?"):
        declare(**{option: 1})


def test_an_option_like_none_we_have_is_answered_with_all():
    with pytest.raises(TypeError, match=r"@task has no 'zzz'. Known: backend, backoff, expires, idempotent"):
        task(zzz=1)


def test_run_after_belongs_to_using():
    with pytest.raises(TypeError, match=r"Use \.using\(run_after=\.\.\.\)"):
        task(run_after=timezone.now())


@pytest.mark.parametrize("function", [any, lambda: None, Holder.method, Holder().method, Holder])
def test_a_function_that_a_worker_cannot_find_is_refused(function):
    with pytest.raises(InvalidTask, match="Task function must be defined at a module level"):
        task(function)


def test_a_generator_is_refused():
    for function in (tasks.generator, tasks.async_generator):
        with pytest.raises(InvalidTask, match="generator is a generator"):
            task(function)


def test_a_nested_function_is_refused():
    def nested(): ...

    with pytest.raises(InvalidTask, match="Task function must be defined at a module level.*nested"):
        task(nested)


def test_a_function_of_main_is_refused(monkeypatch):
    monkeypatch.setattr(plain_function, "__module__", "__main__")
    with pytest.raises(InvalidTask, match="Move plain_function to a tasks.py"):
        task(plain_function)


def test_a_path_too_long_for_the_database_is_refused(monkeypatch):
    monkeypatch.setattr(plain_function, "__module__", "x" * 300)
    with pytest.raises(InvalidTask, match="longer than 255 characters"):
        task(plain_function)


def test_a_context_needs_a_place():
    with pytest.raises(InvalidTask, match="does not have a first argument of 'context'"):
        task(takes_context=True)(plain_function)


TOMORROW = timezone.now() + timedelta(days=1)
REFUSED = [
    ({"priority": 101}, "between -100 and 100. It is 101; the nearest valid one is 100"),
    ({"priority": -101}, "nearest valid one is -100"),
    ({"priority": 3.1}, "nearest valid one is 3"),
    ({"priority": "high"}, "priority must be a whole number between -100 and 100. It is 'high'"),
    ({"priority": True}, "priority must be a whole number"),
    ({"queue_name": ""}, "Queue '' is not valid for backend. A name has 1 to 100 characters"),
    ({"queue_name": "q" * 101}, "A name has 1 to 100 characters"),
    ({"queue_name": "a,b"}, "no comma"),
    ({"queue_name": "*"}, r"no '\*'"),
    ({"queue_name": "two words"}, "no space"),
    ({"run_after": datetime(2030, 1, 1)}, "run_after must be an aware datetime.*has no time zone"),
    ({"run_after": timedelta(seconds=-1)}, "run_after must be from 0 to 36,500 days ahead"),
    ({"run_after": timedelta(days=365 * 8500)}, "run_after must be from 0 to 36,500 days ahead"),
    ({"run_after": datetime.max.replace(tzinfo=UTC)}, "not one in the year 9999"),
    ({"run_after": datetime.min.replace(tzinfo=UTC)}, "not one in the year 1"),
    ({"expires": 1e20}, "at most 36,500 days ahead"),
    ({"expires": float("nan")}, "at most 36,500 days ahead"),
    ({"expires": 60, "run_after": TOMORROW}, "not after run_after"),
    ({"expires": TOMORROW, "run_after": timedelta(days=2)}, "not after run_after"),
    ({"priority": float("nan")}, "priority must be a whole number"),
    ({"priority": float("inf")}, "nearest valid one is 100"),
    ({"priority": 10**400}, "nearest valid one is 100"),
    ({"timeout": float("inf")}, "timeout must be more than 0 s"),
    ({"unique_key": "half \ud800"}, "all of them printable"),
    ({"run_after": 5}, "A timedelta will do too, but not 5"),
    ({"timeout": 0}, "timeout must be more than 0 s"),
    ({"timeout": -1}, "timeout must be more than 0 s"),
    ({"timeout": timedelta(days=31)}, "at most 2,592,000 s"),
    ({"timeout": "1m"}, "timeout must be seconds or a timedelta"),
    ({"expires": 0}, "expires must be in the future"),
    ({"expires": -5}, "expires must be in the future"),
    ({"expires": timedelta(0)}, "expires must be in the future"),
    ({"expires": timezone.now() - timedelta(seconds=1)}, "expires must be in the future"),
    ({"expires": datetime(2030, 1, 1)}, "expires must be an aware datetime"),
    ({"expires": "soon"}, "expires must be seconds, a timedelta or an aware datetime"),
    ({"expires": True}, "expires must be seconds"),
    ({"expires": 60, "run_after": timedelta(hours=1)}, "not after run_after"),
    ({"expires": TOMORROW, "run_after": TOMORROW}, "not after run_after"),
    ({"unique_key": "k" * 201}, "unique_key is too long: 201 characters, at most 200. Use a digest"),
    ({"unique_key": ""}, "unique_key must be a text of at least one character"),
    ({"unique_key": 7}, r"unique_key must be a str, not 7. Use str\(7\)"),
    ({"retry": 5}, "retry must be a RetryPolicy, not 5"),
    ({"idempotent": "yes"}, "idempotent must be True or False"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED, ids=lambda value: str(value)[:40])
def test_an_option_out_of_bounds_is_refused_with_help(options, message):
    with pytest.raises(InvalidTask, match=message):
        tasks.add.using(**options)
    if "run_after" not in options:
        with pytest.raises(InvalidTask, match=message):
            task(**options)(plain_function)


def test_all_findings_come_at_once():
    with pytest.raises(InvalidTask, match=r"(?s)priority.*timeout.*unique_key"):
        tasks.add.using(priority=500, timeout=-1, unique_key="")


def test_an_unknown_queue_is_answered_with_the_nearest():
    with override_settings(TASKS={"default": {"BACKEND": BACKEND, "QUEUES": ["default", "mail"]}}):
        with pytest.raises(InvalidTask, match="Queue 'mial' is not valid for backend. Did you mean 'mail'?"):
            tasks.add.using(queue_name="mial")
        with pytest.raises(InvalidTask, match="It knows default, mail"):
            tasks.add.using(queue_name="zzz")
        assert tasks.add.using(queue_name="mail").queue_name == "mail"


def test_an_aware_moment_is_refused_where_the_project_has_no_time_zones():
    with override_settings(USE_TZ=False):
        with pytest.raises(InvalidTask, match="run_after must be a naive datetime, because USE_TZ is False"):
            tasks.add.using(run_after=TOMORROW)
        assert tasks.add.using(run_after=datetime(2030, 1, 1), expires=datetime(2031, 1, 1))


def test_bounds_are_inclusive():
    assert tasks.add.using(priority=100, unique_key="k" * 200, queue_name="q" * 100, timeout=2_592_000)
    assert tasks.add.using(priority=-100, timeout=0.001)


def test_what_is_not_a_function_is_answered_with_what_it_is():
    with pytest.raises(TypeError, match="expects a function, not 'mail'. Give options by name"):
        task("mail")
    with pytest.raises(TypeError, match="tests.tasks.add is a task already"):
        task(tasks.add)


def test_a_task_refused_by_another_backend_says_which_that_is():
    immediate = {"BACKEND": f"{DJANGO_TASKS}.backends.immediate.ImmediateBackend"}
    with override_settings(TASKS={"default": immediate}), pytest.raises(InvalidTask) as error:
        tasks.add.using(queue_name="mail")
    assert "TASKS['default'] is ImmediateBackend and not horsies" in error.value.__notes__[0]
