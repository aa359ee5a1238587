"""Task types that the tests enqueue."""

from __future__ import annotations

from decimal import Decimal
from functools import wraps
from typing import Any

from django.contrib.auth.models import Group
from django.db import transaction

from horsies_django import Retry, RetryPolicy, TaskFailure, task


@task
def noop(*args: Any, **kwargs: Any) -> None:
    return None


@task
def add(a: int, b: int = 0) -> int:
    return a + b


@task
async def add_async(a: int, b: int = 0) -> int:
    return a + b


@task(takes_context=True)
def describe_context(context: Any, word: str) -> list[Any]:
    context.set_progress(0.5, word)
    return [context.attempt, context.claim_generation, context.task_result.id, context.is_cancelled()]


@task(takes_context=True)
def cancel_oneself(context: Any) -> bool:
    context.task_result.cancel()
    return context.is_cancelled()


@task
def fail(message: str = "as told") -> None:
    raise ValueError(message)


@task
def fail_with_code() -> None:
    raise TaskFailure("NO_STOCK", "the shelf is empty")


@task
def exit_process() -> None:
    raise SystemExit(1)


@task
def return_no_json() -> Any:
    return {"numbers": [1, {2, 3}]}


@task(retry=RetryPolicy.fixed([5, 60], auto_retry_for=[OSError]))
def fail_with(exception_name: str) -> None:
    raise {"ConnectionError": ConnectionError, "ValueError": ValueError}[exception_name]("no luck")


@task(max_attempts=3, backoff=7)
def ask_for_retry(delay: float | None = None) -> None:
    raise Retry("later, please", delay=delay)


@task
def create_group(name: str) -> int:
    return Group.objects.create(name=name).pk


@task
def create_group_and_fail(name: str) -> None:
    Group.objects.create(name=name)
    raise ValueError("after the group was created")


@task
def enqueue_next(left: int) -> None:
    if left:
        enqueue_next.enqueue(left - 1)


not_a_task = 42


def plain_function() -> str:
    return "plain"


def with_context(context: Any) -> None: ...


def generator() -> Any:
    yield 1


async def async_generator() -> Any:
    yield 1


@task
def break_transaction() -> None:
    Group.objects.create(name="undone")
    transaction.set_rollback(True)


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@task
def raise_awkward(name: str) -> None:
    raise {
        "NulInMessage": ValueError("a \0 b"),
        "HalfACharacter": ValueError("a \ud800 b"),
        "Unprintable": Unprintable(),
        "Enormous": ValueError("x" * 1_000_000),
    }[name]


def passing_on(function: Any) -> Any:
    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


@task(takes_context=True)
@passing_on
def wrapped_with_context(context: Any, a: int, b: int) -> int:
    return a + b


@task
def takes_a_task(task: int) -> int:
    return task


class Careless(TaskFailure):
    def __init__(self) -> None:
        self.args = ("no code",)


@task
def raise_careless() -> None:
    raise Careless


@task
def enqueue_on_commit_and_break(name: str) -> None:
    transaction.on_commit(noop.enqueue)
    with transaction.atomic(savepoint=False):
        Group.objects.create(name=name)


@task
def default_is_no_json(number: int, factor: Decimal = Decimal("1.5")) -> None: ...


@task(takes_context=True, max_attempts=3)
def cancel_oneself_and_fail(context: Any) -> None:
    context.task_result.cancel()
    raise ValueError("after it was asked to stop")
