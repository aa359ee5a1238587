"""A call's arguments, checked and encoded before anything is written."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from django.utils.module_loading import import_string

from ..base import DJANGO_OPTIONS, OPTIONS, SHORTHANDS, HorsiesTask
from ..compat import InvalidTask
from ..ids import dotted_path
from ..payload import encode, find_culprit, size_in_bytes
from ..problems import nearest_name

# Stands for the context where a call is held against a signature.
CONTEXT: Any = object()
USING_OPTIONS = (*OPTIONS, *SHORTHANDS, *DJANGO_OPTIONS, "run_after")


@lru_cache(maxsize=1024)
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    # What a wrapper accepts counts, not what it wraps.
    return inspect.signature(function, follow_wrapped=False)


def bind(task: HorsiesTask[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> inspect.BoundArguments:
    """Return the call's arguments by name, the context among them; TypeError if the function does not take them."""
    context = (CONTEXT,) if task.takes_context else ()
    return _signature(task.func).bind(*context, *args, **kwargs)


def named_arguments(task: HorsiesTask[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the call's arguments, and the defaults of those not given, by name and as JSON has them."""
    bound = bind(task, args, kwargs)
    bound.apply_defaults()
    named = {}
    for name, value in bound.arguments.items():
        if isinstance(value, tuple) and value[:1] == (CONTEXT,):
            value = value[1:]
        if value is not CONTEXT:
            named[name] = _as_json(value)
    return named


def _as_json(value: Any) -> Any:
    try:
        return json.loads(encode(value))
    except (TypeError, ValueError):
        return value  # a default that was never sent anywhere


def check_fits(task: HorsiesTask[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Refuse a call that the function would refuse."""
    try:
        bind(task, args, kwargs)
    except TypeError as error:
        reason = _misspelt(task, kwargs) or f"{error}."
        raise TypeError(
            f"{task.module_path}{_signature(task.func)} cannot be enqueued with these arguments: {reason}"
        ) from None


def _misspelt(task: HorsiesTask[..., Any], kwargs: Mapping[str, Any]) -> str | None:
    """Return what to say of a keyword that the function does not take."""
    known = list(_signature(task.func).parameters)
    for name in kwargs:
        if name not in known:
            if name in USING_OPTIONS:
                return f"{name!r} is an option; write .using({name}=…).enqueue(…)."
            nearest = nearest_name(name, known)
            return f"got an unexpected keyword argument {name!r}." + (f" Did you mean {nearest!r}?" if nearest else "")
    return None


@lru_cache(maxsize=1024)
def check_importable(function: Callable[..., Any], takes_context: bool) -> None:
    """Refuse a function that a worker would not find, as this task type has it, by its name."""
    path = dotted_path(function)
    try:
        found = import_string(path)
    except Exception as error:
        raise InvalidTask(f"A worker would not find {path} by its name: {type(error).__name__}: {error}") from None
    if getattr(found, "func", found) is not function:
        raise InvalidTask(f"A worker would not find {path} by its name: there is {found!r}.")
    if getattr(found, "takes_context", False) != takes_context:
        context = "no context" if takes_context else "a context"
        raise InvalidTask(f"A worker would find another {path} by its name: there it takes {context}.")


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
    kind = TypeError if isinstance(error, TypeError) else ValueError
    return kind(f"The arguments of {task.module_path}, their names among them, cannot be written as JSON: {error}.")


def _named(task: HorsiesTask[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    parameters = list(_signature(task.func).parameters.values())[1 if task.takes_context else 0 :]
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    for index, value in enumerate(args):
        yield names[index] if index < len(names) else f"argument {index + 1}", value
    yield from kwargs.items()
