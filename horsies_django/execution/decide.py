"""What follows from an outcome. Pure: values in, values out."""

from __future__ import annotations

from datetime import timedelta

from ..dialects import Attempt, Claim, Ending
from ..exceptions import TaskFailure
from ..ids import dotted_path
from ..limits import MAX_NAME_LENGTH
from ..retries import RetryPolicy
from ..states import AttemptOutcome, TaskStatus
from .outcomes import Outcome, Raised, Returned


def decide(outcome: Outcome, claim: Claim) -> Ending:
    """Return the state a task goes to, and the record of the attempt."""
    if isinstance(outcome, Returned):
        completed = Attempt(outcome=AttemptOutcome.COMPLETED)
        return Ending(status=TaskStatus.COMPLETED, attempt=completed, result=outcome.result)
    delay = retry_delay(outcome, claim)
    attempt = Attempt(
        outcome=AttemptOutcome.FAILED,
        error_code=outcome.error_code,
        error_message=outcome.message,
        exception_class=dotted_path(type(outcome.exception))[:MAX_NAME_LENGTH],
        traceback=outcome.traceback,
        will_retry=delay is not None,
    )
    status = TaskStatus.FAILED if delay is None else TaskStatus.PENDING
    return Ending(status=status, attempt=attempt, retry_delay=delay)


def retry_delay(raised: Raised, claim: Claim) -> timedelta | None:
    """Return how long to wait before the next attempt, or None where there is none."""
    if claim.retry_policy is None or claim.retry_count >= claim.max_retries:
        return None
    policy = RetryPolicy.from_json(claim.retry_policy)
    # A task that fails with a code of its own means it: only that code, by name, makes it try again.
    exception = None if isinstance(raised.exception, TaskFailure) else raised.exception
    if not raised.asked_for_retry and not policy.covers(error_code=raised.error_code, exception=exception):
        return None
    seconds = raised.asked_delay_seconds
    return timedelta(seconds=policy.delay_before(claim.retry_count + 1) if seconds is None else seconds)
