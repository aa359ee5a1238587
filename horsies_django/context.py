"""What a running task is given to speak with those who watch it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

from .compat import GenericTaskContext

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class HorsiesTaskContext(GenericTaskContext[P, R]):  # type: ignore[misc]  # the stubs forget that it is frozen
    """What a task with `takes_context=True` is given as its first argument."""

    claim_generation: int
    report_progress: Callable[[float, str], None] = field(repr=False)
    ask_cancelled: Callable[[], bool] = field(repr=False)

    def set_progress(self, fraction: float, message: str = "") -> None:
        """Tell how far the task is, from 0 to 1, for people to see."""
        if not 0 <= fraction <= 1:
            raise ValueError(f"set_progress({fraction!r}): the fraction goes from 0 to 1.")
        self.report_progress(fraction, message)

    def is_cancelled(self) -> bool:
        """Tell whether somebody has asked the task to stop."""
        return self.ask_cancelled()
