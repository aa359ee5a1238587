"""Retry policies: pure values."""

from __future__ import annotations

import pickle
from datetime import timedelta

import pytest

from horsies_django import Retry, RetryPolicy, TaskFailure


def delays(policy: RetryPolicy) -> list[float]:
    return [policy.delay_before(retry) for retry in range(1, policy.max_retries + 1)]


def test_fixed_delays_are_taken_in_order():
    policy = RetryPolicy.fixed([1, 2.5, timedelta(minutes=1)])
    assert (policy.max_retries, delays(policy)) == (3, [1, 2.5, 60])


def test_exponential_delays_double_up_to_a_limit():
    policy = RetryPolicy.exponential(base_seconds=10, max_retries=5, max_delay_seconds=60, jitter=False)
    assert delays(policy) == [10, 20, 40, 60, 60]


def test_jitter_spreads_between_half_and_all():
    policy = RetryPolicy.exponential(base_seconds=100, max_retries=1)
    seen = {policy.delay_before(1) for _ in range(200)}
    assert all(50 <= delay <= 100 for delay in seen)
    assert max(seen) - min(seen) > 10


def test_jitter_never_goes_below_a_second():
    policy = RetryPolicy.exponential(base_seconds=1, max_retries=1)
    assert {policy.delay_before(1) for _ in range(50)} == {1}


def test_subclasses_and_codes_count():
    policy = RetryPolicy.fixed([1], auto_retry_for=[OSError, "WORKER_CRASHED"])
    assert policy.covers(error_code="UNHANDLED_EXCEPTION", exception=ConnectionResetError())
    assert policy.covers(error_code="WORKER_CRASHED")
    assert not policy.covers(error_code="UNHANDLED_EXCEPTION", exception=ValueError())
    assert not policy.covers(error_code="TASK_TIMEOUT")


def test_by_default_exceptions_are_retried_and_crashes_are_not():
    policy = RetryPolicy.exponential()
    assert policy.covers(error_code="UNHANDLED_EXCEPTION", exception=ValueError())
    assert not policy.covers(error_code="UNHANDLED_EXCEPTION", exception=SystemExit())
    assert not policy.covers(error_code="WORKER_CRASHED")


@pytest.mark.parametrize("policy", [RetryPolicy.fixed([1, 5]), RetryPolicy.exponential(max_retries=4)])
def test_a_policy_survives_storage(policy):
    assert RetryPolicy.from_json(policy.as_json()) == policy


def test_a_stored_policy_is_not_judged_by_todays_rules():
    stored = RetryPolicy.fixed([5]).as_json() | {"max_retries": 500, "delays": [0.1]}
    assert RetryPolicy.from_json(stored).delay_before(1) == 0.1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RetryPolicy.fixed([]), r"fixed\(\[\]\): give a list of 1 to 20 delays in seconds, such as \[5\]"),
        (lambda: RetryPolicy.fixed([1] * 21), "give a list of 1 to 20 delays"),
        (lambda: RetryPolicy.fixed(5), "give a list of 1 to 20 delays"),
        (lambda: RetryPolicy(max_retries=3, delays=()), "delays = .*: it names no delay"),
        (lambda: RetryPolicy.exponential(jitter="no"), "jitter = 'no': it must be True or False"),
        (lambda: RetryPolicy.exponential(base_seconds=60, max_delay_seconds=30), "not be less than the first delay"),
        (lambda: RetryPolicy.exponential(base=1), "has no 'base'. Did you mean 'base_seconds'?"),
        (lambda: RetryPolicy.fixed([1], auto_retry_for=["ConnectionError"]), "Give the class ConnectionError itself"),
        (lambda: RetryPolicy.fixed([1], auto_retry_for=["a.b.C"]), "contains 'a.b.C': give exception classes"),
        (lambda: RetryPolicy.fixed([1], auto_retry_for=["WORKER_CRASH"]), "Did you mean 'WORKER_CRASHED'?"),
        (lambda: RetryPolicy.fixed([0.5]), "delay in seconds = 0.5: it must be from 1 to 86400.*value: 1"),
        (lambda: RetryPolicy.fixed([86_401]), "delay in seconds = 86401"),
        (lambda: RetryPolicy.exponential(max_retries=0), "max_retries = 0"),
        (lambda: RetryPolicy.exponential(max_retries=21), "max_retries = 21"),
        (lambda: RetryPolicy.exponential(base_seconds=0), "delay in seconds = 0"),
        (lambda: RetryPolicy.exponential(max_delay_seconds=90_000), "delay in seconds = 90000"),
        (lambda: RetryPolicy.exponential(max_retries=2.5), "max_retries = 2.5: it must be a number"),
        (lambda: RetryPolicy.exponential(base_seconds="1"), "delay in seconds = '1': it must be a number"),
        (lambda: RetryPolicy.fixed([1], auto_retry_for=OSError), r"give a list, such as \[ConnectionError\]"),
        (lambda: RetryPolicy.fixed([1], auto_retry_for="OSError"), "give a list"),
        (lambda: RetryPolicy.fixed([1], auto_retry_for=[5]), "contains 5: give exception classes"),
        (lambda: RetryPolicy.fixed([1], auto_retry_for=[int]), "contains <class 'int'>"),
        (lambda: RetryPolicy.fixed([1], auto_retry_for=[]), "names nothing to retry for"),
    ],
)
def test_a_policy_out_of_bounds_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_the_shorthand():
    policy = RetryPolicy.from_shorthand(5, 3)
    assert (policy.max_retries, policy.delays, policy.factor) == (4, (3,), 2)
    assert RetryPolicy.from_shorthand(None, [1, 2]).max_retries == 2
    assert RetryPolicy.from_shorthand(3, (1, 2)).delays == (1, 2)
    assert RetryPolicy.from_shorthand(None, 7).max_retries == 3
    assert RetryPolicy.from_shorthand(4, None).max_retries == 3
    assert RetryPolicy.from_shorthand(1, None) is None
    with pytest.raises(ValueError, match="2 delays make 3 attempts"):
        RetryPolicy.from_shorthand(5, [1, 2])
    with pytest.raises(ValueError, match="max_attempts = '3': it must be a number"):
        RetryPolicy.from_shorthand("3", None)
    for attempts, nearest in ((0, 1), (100, 21)):
        with pytest.raises(ValueError, match=f"max_attempts = {attempts}: it must be from 1 to 21.*value: {nearest}"):
            RetryPolicy.from_shorthand(attempts, None)


def test_exceptions_of_tasks_refuse_nonsense():
    with pytest.raises(ValueError, match="from 0 to 86400 seconds"):
        Retry(delay=-1)
    with pytest.raises(ValueError, match="from 0 to 86400 seconds"):
        Retry(delay=float("nan"))
    assert str(pickle.loads(pickle.dumps(TaskFailure("NO_STOCK", "empty")))) == "empty"
    for code in ("", "NO STOCK", "x" * 65):
        with pytest.raises(ValueError, match="letters, digits and underscores"):
            TaskFailure(code)
