"""The rules a setting may have to keep, each with the nearest value that keeps it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from .problems import Problem, nearest_name

Values: TypeAlias = dict[str, Any]
# A rule sees the value and all its neighbours, and returns (kind, rule, nearest) where it is broken.
Broken: TypeAlias = tuple[str, str, Any]
Rule: TypeAlias = Callable[[Any, Mapping[str, Any]], Broken | None]


def boolean() -> Rule:
    """The value is True or False."""

    def rule(value: Any, _: Mapping[str, Any]) -> Broken | None:
        return None if isinstance(value, bool) else ("type", "it must be True or False", bool(value))

    return rule


def number(low: int, high: int | None = None, *, optional: bool = False) -> Rule:
    """The value is a whole number within bounds, or None where that is allowed."""
    span = f"from {low:,} to {high:,}" if high is not None else f"of {low:,} or more"
    words = f"it must be a whole number {span}{', or None' if optional else ''}"

    def rule(value: Any, _: Mapping[str, Any]) -> Broken | None:
        if value is None and optional:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            whole = _whole(value)
            return "type", words, None if whole is None else _clamp(whole, low, high)
        return None if _clamp(value, low, high) == value else ("bounds", words, _clamp(value, low, high))

    return rule


def threshold(low: int, high: int, *, interval: str) -> Rule:
    """The value is within bounds and at least twice the interval it watches over."""
    within = number(low, high)

    def rule(value: Any, values: Mapping[str, Any]) -> Broken | None:
        broken = within(value, values)
        beat = values.get(interval)
        if broken or isinstance(beat, bool) or not isinstance(beat, int) or value >= 2 * beat:
            return broken
        return (
            "threshold",
            f"it must be at least twice {interval} ({beat:,}), so that one late heartbeat is not taken for a crash",
            min(2 * beat, high),
        )

    return rule


def choice(*allowed: str) -> Rule:
    """The value is one of a few words."""

    def rule(value: Any, _: Mapping[str, Any]) -> Broken | None:
        if value in allowed:
            return None
        words = f"it must be one of {', '.join(map(repr, allowed))}"
        return "choice", words, nearest_name(value, allowed) or allowed[0]

    return rule


def text_list() -> Rule:
    """The value is a list of texts, and not empty."""

    def rule(value: Any, _: Mapping[str, Any]) -> Broken | None:
        if isinstance(value, list | tuple) and value and all(isinstance(item, str) for item in value):
            return None
        return "type", "it must be a list of names", [value] if isinstance(value, str) else ["*"]

    return rule


def find_problems(
    values: Mapping[str, Any],
    rules: Mapping[str, Rule],
    where: str = "",
    only: Iterable[str] | None = None,
    defaults: Mapping[str, Any] | None = None,
) -> Iterable[Problem]:
    """Yield what is wrong with the values; `only` names those that a person has given.

    A threshold left at its default is told of too, if a given interval has outgrown it. Where no valid value
    is near, the default is named.
    """
    given = set(values if only is None else only)
    for name in values:
        broken = rules[name](values[name], values)
        if broken and (name in given or broken[0] == "threshold"):
            kind, rule, nearest = broken
            if nearest is None and defaults is not None:
                nearest = defaults.get(name)
            yield Problem(kind, f"{where}[{name!r}]" if where else name, values[name], rule, nearest)


def unknown_keys(values: Mapping[str, Any], known: Iterable[str], where: str) -> Iterable[Problem]:
    """Yield a problem for each key that nobody knows, with the nearest one that is known."""
    known = list(known)
    for key in values:
        if key not in known:
            rule = f"no such key in {where}"
            nearest = nearest_name(key, known)
            if nearest is None:
                rule += f", which knows {', '.join(known)}"
            yield Problem("unknown", f"{where}[{key!r}]", values[key], rule, nearest)


def _whole(value: Any) -> int | None:
    try:
        return round(float(value))
    except (TypeError, ValueError, OverflowError):
        return None


def _clamp(value: int, low: int, high: int | None) -> int:
    return max(low, value if high is None else min(value, high))
