"""Enqueueing: what is written, when it can be seen, and what is refused."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from horsies_django import RetryPolicy, enqueue_many, task
from horsies_django.compat import InvalidTask, task_enqueued
from horsies_django.models import Task
from horsies_django.queue.arguments import check_importable
from tests import tasks
from tests.processes import run_at_once
from tests.receivers import receiving

pytestmark = pytest.mark.django_db
PLAIN_FUNCTION = tasks.plain_function


def test_a_call_becomes_a_pending_row():
    result = tasks.add.using(priority=7, queue_name="sums").enqueue(1, b=2)

    row = Task.objects.get(pk=result.id)
    assert (row.name, row.queue_name, row.priority) == ("tests.tasks.add", "sums", 7)
    assert (row.args, row.kwargs, row.status) == ([1], {"b": 2}, "PENDING")
    assert (row.attempt_count, row.claim_generation, row.max_retries) == (0, 0, 0)
    assert row.enqueued_at == result.enqueued_at
    assert row.backend == "default"


def test_all_options_are_kept_with_the_row():
    policy = RetryPolicy.fixed([5, 60], auto_retry_for=[OSError, "WORKER_CRASHED"])
    varied = tasks.add.using(
        retry=policy, timeout=1.5, expires=timedelta(hours=1), unique_key="k", idempotent=True, run_after=timedelta(0)
    )

    row = Task.objects.get(pk=varied.enqueue(1).id)
    assert row.max_retries == 2
    assert RetryPolicy.from_json(row.retry_policy) == policy
    assert row.timeout_ms == 1500
    assert row.expires_at - row.enqueued_at == timedelta(hours=1)
    assert row.run_after == row.enqueued_at
    assert (row.unique_key, row.idempotent) == ("k", True)


def test_a_relative_time_counts_from_the_databases_clock_at_each_enqueue():
    later = tasks.add.using(run_after=timedelta(minutes=5))

    for _ in range(2):
        result = later.enqueue(1)
        row = Task.objects.get(pk=result.id)
        assert row.run_after - row.enqueued_at == timedelta(minutes=5)
        assert result.task.run_after == row.run_after


def test_an_absolute_time_is_kept_as_given():
    tomorrow = timezone.now() + timedelta(days=1)

    result = tasks.add.using(run_after=tomorrow, expires=tomorrow + timedelta(hours=1)).enqueue(1)

    row = Task.objects.get(pk=result.id)
    assert row.run_after == tomorrow
    assert row.expires_at == tomorrow + timedelta(hours=1)


@pytest.mark.django_db(transaction=True)
def test_a_rolled_back_transaction_leaves_no_task():
    def enqueue_and_fail():
        with transaction.atomic():
            tasks.add.enqueue(1)
            enqueue_many(tasks.add, [((2,), {}), ((3,), {})])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        enqueue_and_fail()

    assert not Task.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_the_signal_is_sent_after_the_row_is_written_and_a_broken_receiver_harms_nobody():
    seen = []

    def receiver(sender, task_result, **kwargs):
        seen.append((sender.__name__, task_result.id, Task.objects.filter(pk=task_result.id).exists()))
        raise RuntimeError("a broken receiver")

    with receiving(receiver, task_enqueued):
        result = tasks.add.enqueue(1)
        results = enqueue_many(tasks.add, [((2,), {}), ((3,), {})])

    assert seen == [("HorsiesBackend", r.id, True) for r in [result, *results]]


def test_ten_thousand_tasks_take_a_few_statements():
    calls = [((n,), {"b": n}) for n in range(10_000)]
    with CaptureQueriesContext(connection) as queries:
        results = enqueue_many(tasks.add, calls)

    assert len([q for q in queries if "SAVEPOINT" not in q["sql"]]) <= 10
    assert Task.objects.count() == 10_000
    row = Task.objects.get(pk=results[4321].id)
    assert (row.args, row.kwargs, row.enqueued_at) == ([4321], {"b": 4321}, results[4321].enqueued_at)
    assert [r.id for r in results] == sorted(r.id for r in results)


def test_large_payloads_take_more_statements():
    calls = [(("x" * 1_000_000,), {"b": n}) for n in range(20)]
    with CaptureQueriesContext(connection) as queries:
        enqueue_many(tasks.add, calls)

    assert len([q for q in queries if "INSERT" in q["sql"]]) == 3
    assert sorted(row.kwargs["b"] for row in Task.objects.all()) == list(range(20))


def test_many_tasks_are_all_or_none():
    with pytest.raises(TypeError, match="'a' of tests.tasks.add"):
        enqueue_many(tasks.add, [((1,), {}), ((object(),), {})])

    assert not Task.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_processes_that_enqueue_at_once_do_not_get_in_each_others_way():
    code = """
from django.db import transaction
from horsies_django import enqueue_many
from tests import tasks
from tests.processes import run_at_once
from tests.receivers import receiving
for number in range(20):
    tasks.add.enqueue(number)
    with transaction.atomic():
        tasks.add.enqueue(number)
        enqueue_many(tasks.add, [((number,), {}), ((number,), {})])
"""
    run_at_once(code, 8)

    assert Task.objects.count() == 8 * 20 * 4


def test_no_calls_are_no_tasks():
    assert enqueue_many(tasks.add, []) == []


def test_many_tasks_keep_the_options_of_their_type():
    varied = tasks.add.using(priority=3, run_after=timedelta(hours=1), timeout=5)

    results = enqueue_many(varied, [((1,), {})])

    row = Task.objects.get()
    assert (row.priority, row.timeout_ms) == (3, 5000)
    assert row.run_after - row.enqueued_at == timedelta(hours=1)
    assert results[0].task.run_after == row.run_after
    assert tasks.add.get_result(results[0].id) == results[0]


@pytest.mark.parametrize("call", [5, (1,), ((1,), {}, 3), ({"a": 1}, ()), ("ab", {})])
def test_a_call_of_another_form_is_refused(call):
    with pytest.raises(TypeError, match=r"call number 1 is .* such as \(\(7,\), \{\}\)"):
        enqueue_many(tasks.add, [((1,), {}), call])
    assert not Task.objects.exists()


def test_many_calls_cannot_share_a_unique_key():
    with pytest.raises(InvalidTask, match="would make one task of all its calls"):
        enqueue_many(tasks.add.using(unique_key="k"), [((1,), {})])


NOT_JSON = [
    (datetime(2026, 1, 1, tzinfo=UTC), TypeError, "Unsupported type: <class 'datetime.datetime'> in argument 'a'"),
    (Decimal("1.5"), TypeError, "decimal.Decimal.*in argument 'a'"),
    (uuid.uuid4(), TypeError, "uuid.UUID.*in argument 'a'"),
    ({1, 2}, TypeError, "set.*in argument 'a'"),
    ({"deep": [1, {"er": object()}]}, TypeError, r"<class 'object'> at a\['deep'\]\[1\]\['er'\] in argument 'a'"),
    ({(1, 2): 3}, TypeError, "<class 'tuple'> at a key of a in argument 'a'"),
    (float("nan"), ValueError, "nan, a number that JSON does not have, in argument 'a'"),
    ([float("-inf")], ValueError, r"-inf, a number that JSON does not have, at a\[0\] in argument 'a'"),
    ("zero \0 byte", ValueError, "NUL character in argument 'a'"),
    ("half \ud800 pair", ValueError, "surrogate pair in argument 'a'"),
    (b"\xff", ValueError, "bytes that are not UTF-8 text in argument 'a'"),
]


@pytest.mark.parametrize(("value", "error", "message"), NOT_JSON)
def test_an_argument_that_is_not_json_is_refused_by_name(value, error, message):
    with pytest.raises(error, match=message):
        tasks.add.enqueue(value)
    with pytest.raises(error, match="in argument 'b' of tests.tasks.add"):
        tasks.add.enqueue(1, b=value)
    assert not Task.objects.exists()


def test_a_value_that_contains_itself_is_refused():
    loop: list = []
    loop.append(loop)
    with pytest.raises(ValueError, match="more than 100 lists or dicts inside each other in argument 'a'"):
        tasks.add.enqueue(loop)


def test_a_value_nested_too_deeply_is_refused():
    def nested(levels):
        value: list = []
        for _ in range(levels - 1):
            value = [value]
        return value

    # The list of arguments is the first level.
    tasks.add.enqueue(nested(99))
    for levels in (101, 600, 1_100, 3_000, 100_000):
        with pytest.raises(ValueError, match="more than 100 lists or dicts inside each other in argument 'a'"):
            tasks.add.enqueue(nested(levels))
    tasks.add.enqueue([[1]] * 1_000)
    assert Task.objects.count() == 2
    with pytest.raises(ValueError, match="Unsupported value: Exceeds the limit .* in argument 'a'"):
        tasks.add.enqueue(10**5000)


def test_the_name_of_an_argument_behind_a_star_is_its_place():
    with pytest.raises(TypeError, match="in argument 'argument 2' of tests.tasks.noop"):
        tasks.noop.enqueue(1, object())


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ((1, 2), [1, 2]),
        (b"bytes", "bytes"),
        ({"nested": ({"deep": (1,)},)}, {"nested": [{"deep": [1]}]}),
        ("ünïcödé ☃", "ünïcödé ☃"),
        ("a \\u0000 that is only text", "a \\u0000 that is only text"),
        (2**80, 2**80),
        (None, None),
    ],
)
def test_what_json_can_say_comes_back_as_json_says_it(given, stored):
    result = tasks.add.enqueue(given)

    assert result.args == [stored]
    assert Task.objects.get(pk=result.id).args == [stored]
    assert tasks.add.get_result(result.id) == result


def test_a_payload_over_the_limit_is_refused(settings):
    tasks.add.enqueue("x" * (1024 * 1024 - 10))
    with pytest.raises(ValueError, match=r"take 1,048,\d+ bytes as JSON, over the limit of 1,048,576.*MAX_PAYLOAD"):
        tasks.add.enqueue("x" * 1024 * 1024)
    settings.HORSIES = {"MAX_PAYLOAD_BYTES": 20}
    tasks.add.enqueue("x" * 10)
    with pytest.raises(ValueError, match="take 24 bytes"):
        tasks.add.enqueue("ü" * 9)
    with pytest.raises(ValueError, match="over the limit of 20"):
        enqueue_many(tasks.add, [((1,), {}), (("x" * 30,), {})])
    assert Task.objects.count() == 2


@pytest.mark.parametrize(("args", "kwargs"), [((), {}), ((1, 2, 3), {}), ((1,), {"c": 1}), ((1,), {"a": 1})])
def test_a_call_that_does_not_fit_the_function_is_refused(args, kwargs):
    with pytest.raises(TypeError, match=r"tests\.tasks\.add\(a: .*cannot be enqueued with these arguments"):
        tasks.add.enqueue(*args, **kwargs)
    with pytest.raises(TypeError, match="cannot be enqueued"):
        enqueue_many(tasks.add, [(args, kwargs)])
    assert not Task.objects.exists()


def test_the_context_is_not_an_argument_of_the_call():
    with pytest.raises(TypeError, match="missing a required argument: 'word'"):
        tasks.describe_context.enqueue()
    with pytest.raises(TypeError, match="in argument 'word'"):
        tasks.describe_context.enqueue(object())


async def test_aenqueue_does_the_same():
    result = await tasks.add.aenqueue(1, b=2)
    assert await tasks.add.aget_result(result.id) == result
    with pytest.raises(TypeError, match="Unsupported type"):
        await tasks.add.aenqueue(object())


def test_a_misspelt_keyword_is_answered_with_the_nearest():
    with pytest.raises(TypeError, match="unexpected keyword argument 'bb'. Did you mean 'b'?"):
        tasks.add.enqueue(1, bb=2)
    with pytest.raises(TypeError, match=r"'run_after' is an option; write \.using\(run_after=…\)"):
        tasks.add.enqueue(1, run_after=2)


def test_a_wrong_call_among_many_is_named_by_its_number():
    with pytest.raises(TypeError, match="Call number 1: Unsupported type"):
        enqueue_many(tasks.add, [((1,), {}), ((object(),), {})])
    with pytest.raises(TypeError, match="expects a task, not <function plain_function"):
        enqueue_many(tasks.plain_function, [])


def test_a_function_that_a_worker_would_not_find_is_refused(monkeypatch):
    check_importable.cache_clear()
    monkeypatch.delattr(tasks, "plain_function")
    with pytest.raises(InvalidTask, match="would not find tests.tasks.plain_function by its name: ImportError"):
        task(PLAIN_FUNCTION).enqueue()
    monkeypatch.setattr(tasks, "plain_function", tasks.add, raising=False)
    with pytest.raises(
        InvalidTask, match="would not find tests.tasks.plain_function by its name: there is HorsiesTask"
    ):
        task(PLAIN_FUNCTION).enqueue()
    monkeypatch.setattr(tasks, "plain_function", PLAIN_FUNCTION)
    task(PLAIN_FUNCTION).enqueue()
    with pytest.raises(InvalidTask, match="another tests.tasks.with_context by its name: there it takes no context"):
        task(takes_context=True)(tasks.with_context).enqueue()
    assert Task.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_missing_tables_are_answered_with_the_command_that_makes_them():
    with connection.schema_editor() as editor:
        editor.alter_db_table(Task, "horsies_tasks", "horsies_hidden")
    try:
        with pytest.raises(DatabaseError) as error:
            tasks.add.enqueue(1)
    finally:
        with connection.schema_editor() as editor:
            editor.alter_db_table(Task, "horsies_hidden", "horsies_tasks")
    assert error.value.__notes__ == ["Are the tables of horsies there? Run: python manage.py migrate"]


def test_a_keyword_whose_name_no_database_takes_is_refused():
    for name in ("half \ud800", "zero \0"):
        with pytest.raises(ValueError, match="The arguments of tests.tasks.noop, their names among them"):
            tasks.noop.enqueue(**{name: 1})
        with pytest.raises(ValueError, match="Call number 0: The arguments of tests.tasks.noop"):
            enqueue_many(tasks.noop, [((), {name: 1})])
    assert not Task.objects.exists()
