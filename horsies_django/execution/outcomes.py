"""How a run of user code can end, before anybody has decided what follows from it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Returned:
    """The function returned; `result` is JSON text."""

    result: str


@dataclass(frozen=True, slots=True)
class Raised:
    """The function raised, or could not be called."""

    error_code: str
    message: str
    exception: BaseException
    traceback: str
    asked_delay_seconds: float | None = None
    asked_for_retry: bool = False


Outcome = Returned | Raised
