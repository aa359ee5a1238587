"""When a task is tried again, and after how long. Pure: values in, values out."""

from __future__ import annotations

import builtins
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from inspect import isclass
from typing import Any, Never, TypeAlias

from .ids import dotted_path
from .problems import Problem, describe, nearest_name, refuse_unknown
from .states import ErrorCode

MIN_RETRIES, MAX_RETRIES = 1, 20
MIN_DELAY_SECONDS, MAX_DELAY_SECONDS = 1, 24 * 60 * 60
DEFAULT_BASE_SECONDS, DEFAULT_MAX_RETRIES = 10, 3

EXPONENTIAL_OPTIONS = ("base_seconds", "max_retries", "max_delay_seconds", "jitter", "auto_retry_for")

Seconds: TypeAlias = float | timedelta
Reason: TypeAlias = type[BaseException] | str


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often, how soon and after what a task is tried again.

    Make one with `RetryPolicy.fixed()` or `RetryPolicy.exponential()`.
    `auto_retry_for` holds exception classes (subclasses count) and error codes. A crash of the worker
    is retried only where `"WORKER_CRASHED"` is named, because the task may have done half its work.
    """

    max_retries: int
    delays: tuple[float, ...]
    factor: float = 1
    max_delay_seconds: float = MAX_DELAY_SECONDS
    jitter: bool = False
    auto_retry_for: tuple[str, ...] = ("builtins.Exception",)

    def __post_init__(self) -> None:
        problems = list(_find_problems(self))
        if problems:
            raise ValueError(describe("This RetryPolicy cannot be used:", problems))

    @classmethod
    def fixed(cls, delays: Sequence[Seconds], *, auto_retry_for: Iterable[Reason] = (Exception,)) -> RetryPolicy:
        """Return a policy that retries once for each of the given delays, in seconds."""
        given: Any = delays
        if not isinstance(given, list | tuple) or not MIN_RETRIES <= len(given) <= MAX_RETRIES:
            raise ValueError(
                f"RetryPolicy.fixed({delays!r}): give a list of {MIN_RETRIES} to {MAX_RETRIES} delays in seconds, "
                "such as [5]."
            )
        return cls(
            max_retries=len(delays),
            delays=tuple(_seconds(delay) for delay in delays),
            auto_retry_for=_reason_names(auto_retry_for),
        )

    @classmethod
    def exponential(
        cls,
        *,
        base_seconds: Seconds = DEFAULT_BASE_SECONDS,
        max_retries: int = DEFAULT_MAX_RETRIES,
        max_delay_seconds: Seconds = MAX_DELAY_SECONDS,
        jitter: bool = True,
        auto_retry_for: Iterable[Reason] = (Exception,),
        **unknown: Never,
    ) -> RetryPolicy:
        """Return a policy that waits base, 2 × base, 4 × base … up to a limit.

        With jitter each wait is between half of that and all of it, so that tasks which failed
        together do not come back together.
        """
        refuse_unknown("RetryPolicy.exponential()", unknown, EXPONENTIAL_OPTIONS)
        base = _seconds(base_seconds)
        return cls(
            max_retries=max_retries,
            delays=(base,),
            factor=2,
            max_delay_seconds=_seconds(max_delay_seconds),
            jitter=jitter,
            auto_retry_for=_reason_names(auto_retry_for),
        )

    @classmethod
    def from_shorthand(cls, max_attempts: int | None, backoff: Any) -> RetryPolicy | None:
        """Return the policy that `max_attempts=` and `backoff=` stand for; one attempt is no policy.

        A number is the base of an exponential policy, a list holds fixed delays.
        """
        if isinstance(backoff, list | tuple):
            if max_attempts is not None and max_attempts != len(backoff) + 1:
                raise ValueError(
                    f"max_attempts={max_attempts} does not fit backoff={backoff!r}: {len(backoff)} delays make "
                    f"{len(backoff) + 1} attempts. Leave max_attempts out."
                )
            return cls.fixed(backoff)
        base = DEFAULT_BASE_SECONDS if backoff is None else backoff
        if max_attempts is None:
            return cls.exponential(base_seconds=base)
        for problem in _out_of_bounds("max_attempts", max_attempts, 1, MAX_RETRIES + 1, int):
            raise ValueError(str(problem))
        return None if max_attempts == 1 else cls.exponential(max_retries=max_attempts - 1, base_seconds=base)

    def delay_before(self, retry: int) -> float:
        """Return the seconds to wait before retry number `retry`, counted from 1."""
        if self.factor == 1:
            return self.delays[min(retry, len(self.delays)) - 1]
        delay = min(self.delays[0] * self.factor ** (retry - 1), self.max_delay_seconds)
        return max(MIN_DELAY_SECONDS, delay * random.uniform(0.5, 1)) if self.jitter else delay  # noqa: S311

    def covers(self, *, error_code: str, exception: BaseException | None = None) -> bool:
        """Tell whether a failure with this code, or this exception, is one to retry."""
        if error_code in self.auto_retry_for:
            return True
        ancestors = type(exception).__mro__ if exception is not None else ()
        return any(dotted_path(ancestor) in self.auto_retry_for for ancestor in ancestors)

    def as_json(self) -> dict[str, Any]:
        """Return the policy as it is stored with a task."""
        return {
            "max_retries": self.max_retries,
            "delays": list(self.delays),
            "factor": self.factor,
            "max_delay_seconds": self.max_delay_seconds,
            "jitter": self.jitter,
            "auto_retry_for": list(self.auto_retry_for),
        }

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> RetryPolicy:
        """Return a stored policy as it was, even if today's bounds would refuse it."""
        policy = object.__new__(cls)
        for field in fields(cls):
            value = stored.get(field.name, field.default)
            object.__setattr__(policy, field.name, tuple(value) if isinstance(value, list) else value)
        return policy


def milliseconds(duration: Seconds | None) -> int | None:
    """Return a duration as the database keeps it."""
    return None if duration is None else round(_seconds(duration) * 1000)


def _seconds(delay: Seconds) -> float:
    return delay.total_seconds() if isinstance(delay, timedelta) else delay


def _reason_names(reasons: Iterable[Reason]) -> tuple[str, ...]:
    if isinstance(reasons, str) or isclass(reasons):
        raise ValueError(f"auto_retry_for = {reasons!r}: give a list, such as [ConnectionError].")
    return tuple(_reason_name(reason) for reason in reasons)


def _reason_name(reason: Any) -> str:
    if isclass(reason) and issubclass(reason, BaseException):
        return dotted_path(reason)
    if not isinstance(reason, str) or not reason.replace("_", "").isalnum():
        raise ValueError(
            f"auto_retry_for contains {reason!r}: give exception classes, such as ConnectionError, "
            "or error codes, such as 'WORKER_CRASHED'."
        )
    if isclass(getattr(builtins, reason, None)):
        raise ValueError(f"auto_retry_for contains {reason!r}, which is no error code. Give the class {reason} itself.")
    known = nearest_name(reason, ErrorCode.values, cutoff=0.9)
    if known not in (None, reason):
        raise ValueError(f"auto_retry_for contains {reason!r}. Did you mean {known!r}?")
    return reason


def _find_problems(policy: RetryPolicy) -> Iterable[Problem]:
    yield from _out_of_bounds("max_retries", policy.max_retries, MIN_RETRIES, MAX_RETRIES, int)
    broken = [
        problem
        for delay in (*policy.delays, policy.max_delay_seconds)
        for problem in _out_of_bounds("delay in seconds", delay, MIN_DELAY_SECONDS, MAX_DELAY_SECONDS, (int, float))
    ]
    yield from broken
    if not policy.delays:
        yield Problem("empty", "delays", (), "it names no delay", (DEFAULT_BASE_SECONDS,))
    elif not broken and policy.delays[0] > policy.max_delay_seconds:
        rule = f"it must not be less than the first delay, {policy.delays[0]}"
        yield Problem("bounds", "max_delay_seconds", policy.max_delay_seconds, rule, policy.delays[0])
    if not isinstance(policy.jitter, bool):
        yield Problem("type", "jitter", policy.jitter, "it must be True or False", True)
    if not policy.auto_retry_for:
        yield Problem("empty", "auto_retry_for", (), "it names nothing to retry for", ("builtins.Exception",))


def _out_of_bounds(field: str, value: Any, low: int, high: int, types: Any) -> Iterable[Problem]:
    if isinstance(value, bool) or not isinstance(value, types):
        yield Problem("type", field, value, f"it must be a number from {low} to {high}", low)
    elif not low <= value <= high:
        yield Problem("bounds", field, value, f"it must be from {low} to {high}", min(max(value, low), high))
