"""What a type checker makes of user code. Read by mypy in `tox -e lint`, never run.

Every `type: ignore` here is an error that must be found: mypy complains of one that it does not need.
"""

from __future__ import annotations

from datetime import timedelta
from typing import assert_type

from horsies_django import HorsiesTask, HorsiesTaskContext, RetryPolicy, enqueue_many, task


@task
def bare(number: int, text: str = "") -> str:
    return text * number


@task(queue_name="mail", retry=RetryPolicy.fixed([1, timedelta(minutes=1)]), timeout=5)
def with_options(number: int) -> list[int]:
    return [number]


@task(takes_context=True)
def with_context(context: HorsiesTaskContext[..., object], number: int) -> None:
    context.set_progress(number / 10, "on the way")


@task
async def coroutine(number: int) -> int:
    return number


@task(priority=5)
async def coroutine_with_options(number: int) -> int:
    return number


@task(takes_context=True, priority=5)
async def coroutine_with_context(context: HorsiesTaskContext[..., object], number: int) -> int:
    return number


def right() -> None:
    assert_type(bare.enqueue(1).return_value, str)
    assert_type(with_options.using(priority=5, timeout=None).enqueue(1).return_value, list[int])
    with_context.enqueue(1)
    with_context.enqueue(number=1)
    enqueue_many(bare, [((1,), {"text": "x"})])
    bare.enqueue(1).wait(timeout=5).cancel()
    same: HorsiesTask[[int], list[int]] = with_options.using(run_after=timedelta(minutes=5))
    assert same


def wrong() -> None:
    bare.enqueue("1")  # type: ignore[arg-type]
    bare.enqueue()  # type: ignore[call-arg]
    bare.enqueue(1, txt="x")  # type: ignore[call-arg]
    with_options.using(priority=5).enqueue(None)  # type: ignore[arg-type]
    with_context.enqueue("one")  # type: ignore[arg-type]
    coroutine.enqueue([])  # type: ignore[arg-type]
    bare.using(timeuot=5)  # type: ignore[arg-type]
    bare.using(priority="high")  # type: ignore[arg-type]
    task(timeuot=5)  # type: ignore[call-overload]


async def right_asynchronously() -> None:
    result = await coroutine.aenqueue(1)
    assert_type((await result.await_finished(timeout=5)).return_value, int)
    assert_type(coroutine_with_options.enqueue(1).return_value, int)
    assert_type(coroutine_with_context.enqueue(1).return_value, int)
