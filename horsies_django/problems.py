"""How a wrong value is told: what it is, the rule it breaks, and what would be right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any


def nearest_name(name: object, known: Iterable[str], cutoff: float = 0.5) -> str | None:
    """Return the known name most like `name`, or None if none comes close."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    name = str(name).lower()
    matches = get_close_matches(name, by_lower, n=1, cutoff=cutoff)
    if not matches and cutoff <= 0.5:
        matches = [known for known in by_lower if name in known]
    return by_lower[matches[0]] if matches else None


def refuse_unknown(what: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise UnknownName for names nobody knows, with the nearest one or, failing that, all of them."""
    known = sorted(known)
    for name in given:
        if name not in known:
            nearest = nearest_name(name, known)
            advice = f"Did you mean {nearest!r}?" if nearest else f"Known: {', '.join(known)}."
            raise UnknownName(f"{what} has no {name!r}. {advice}")


class UnknownName(TypeError, ValueError):
    """A keyword nobody knows: a TypeError as Python has it, a ValueError as all bad settings are."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding about one value."""

    kind: str
    field: str
    value: Any
    rule: str
    nearest: Any = None

    def __str__(self) -> str:
        return f"{self.field} = {self.value!r}: {self.rule}.{self.advice}"

    @property
    def advice(self) -> str:
        """What to do about it, or nothing if no single value would be right."""
        if self.nearest is None:
            return ""
        if self.kind == "unknown":
            return f" Did you mean {self.nearest!r}?"
        return f" Nearest valid value: {self.nearest!r}."


def describe(title: str, problems: Iterable[Problem]) -> str:
    """Return all findings as one text, a line each."""
    return "\n".join([title, *(f"  - {problem}" for problem in problems)])
