"""A call's arguments, checked and encoded before anything is written."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ..base import HorsiesTask
from ..payload import encode, find_culprit, size_in_bytes


@lru_cache(maxsize=1024)
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    # What a wrapper accepts counts, not what it wraps.
    return inspect.signature(function, follow_wrapped=False)


def bind(task: HorsiesTask[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the call's arguments by name; TypeError if the function does not take them."""
    context = (None,) if task.takes_context else ()
    bound = _signature(task.func).bind(*context, *args, **kwargs)
    return dict(list(bound.arguments.items())[len(context) :])


def check_fits(task: HorsiesTask[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Refuse a call that the function would refuse."""
    try:
        bind(task, args, kwargs)
    except TypeError as error:
        raise TypeError(
            f"{task.module_path}{_signature(task.func)} cannot be enqueued with these arguments: {error}."
        ) from None


def encode_call(
    task: HorsiesTask[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], max_bytes: int
) -> tuple[str, str]:
    """Return positional and keyword arguments as JSON text; TypeError or ValueError names what is not."""
    try:
        encoded = encode(args), encode(kwargs)
    except (TypeError, ValueError) as error:
        raise _explained(error, task, args, kwargs) from None
    size = sum(map(size_in_bytes, encoded))
    if size > max_bytes:
        raise ValueError(
            f"The arguments of {task.module_path} take {size:,} bytes as JSON, over the limit of {max_bytes:,}. "
            "Store the data elsewhere and pass its key, or raise HORSIES['MAX_PAYLOAD_BYTES']."
        )
    return encoded


def _explained(
    error: TypeError | ValueError, task: HorsiesTask[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> TypeError | ValueError:
    for name, value in _named(task, args, kwargs):
        try:
            encode(value)
        except (TypeError, ValueError) as found:
            kind = TypeError if isinstance(found, TypeError) else ValueError
            return kind(
                f"{find_culprit(value, name)} in argument {name!r} of {task.module_path}. Arguments must be "
                "JSON: str, int, float, bool, None, and lists and dicts of these. Pass a model's primary key, "
                "a datetime's isoformat(), a Decimal's str()."
            )
    return error


def _named(task: HorsiesTask[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    parameters = list(_signature(task.func).parameters.values())[1 if task.takes_context else 0 :]
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    for index, value in enumerate(args):
        yield names[index] if index < len(names) else f"argument {index + 1}", value
    yield from kwargs.items()
