"""Arguments and results as JSON text, with errors that point at the value at fault."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .compat import normalize_json
from .limits import MAX_NESTING

_KEY_TYPES = (str, int, float, bool, bytes, type(None))

_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def encode(value: Any) -> str:
    """Return `value` as JSON that every database accepts; TypeError or ValueError if there is none."""
    try:
        text = _encode(value)
    except (TypeError, ValueError):
        # Django's framework takes more than the json module does, bytes for one.
        text = _encode(_normalize(value))
    if text.count("[") + text.count("{") > MAX_NESTING and _is_deeper(value, MAX_NESTING):
        raise ValueError("it is nested too deeply")
    if not text.isascii():
        text.encode()
    if "\\u0000" in text and any(_contains_nul(leaf) for _, leaf in _leaves(value, "")):
        raise ValueError("a NUL character cannot be stored")
    return text


def _is_deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, Mapping | Sequence) or isinstance(value, str | bytes):
        return False
    items = value.values() if isinstance(value, Mapping) else value
    return levels == 0 or any(_is_deeper(item, levels - 1) for item in items)


def size_in_bytes(text: str) -> int:
    """Return the size of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def storable(text: str, max_length: int) -> str:
    """Return a text that every database takes: without NUL and half characters, and cut in the middle if long."""
    text = text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")
    if len(text) <= max_length:
        return text
    half = max_length // 2
    return f"{text[:half]}\n… {len(text) - 2 * half:,} characters left out …\n{text[-half:]}"


def find_culprit(value: Any, name: str) -> str:
    """Return what is wrong with a value that `encode()` refused, and where in it."""
    try:
        if _is_deeper(value, MAX_NESTING):
            return f"Unsupported value: more than {MAX_NESTING} lists or dicts inside each other"
        for path, leaf in _leaves(value, name):
            complaint = _complaint(leaf)
            if complaint:
                return f"{complaint} at {path}" if path != name else complaint
    except RecursionError:
        return "Unsupported value: it contains itself"
    return "Unsupported value: it cannot be written as JSON"


def _encode(value: Any) -> str:
    try:
        return _encoder.encode(value)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _normalize(value: Any) -> Any:
    try:
        return normalize_json(value)
    except RecursionError:
        raise ValueError("it contains itself") from None


def _complaint(leaf: Any) -> str | None:
    if isinstance(leaf, _NoKey):
        return f"Unsupported type: {leaf.type}"
    if isinstance(leaf, float) and not math.isfinite(leaf):
        return f"Unsupported value: {leaf}, a number that JSON does not have,"
    if _contains_nul(leaf):
        return "Unsupported value: a text with a NUL character"
    if isinstance(leaf, bytes):
        return None if _is_utf8(leaf) else "Unsupported value: bytes that are not UTF-8 text"
    try:
        encode(leaf)
    except UnicodeEncodeError:
        return "Unsupported value: a text with half a surrogate pair"
    except ValueError as error:
        return f"Unsupported value: {error}"
    except TypeError:
        return f"Unsupported type: {type(leaf)}"
    return None


@dataclass(frozen=True)
class _NoKey:
    type: type


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _contains_nul(leaf: Any) -> bool:
    return (isinstance(leaf, str) and "\0" in leaf) or (isinstance(leaf, bytes) and b"\0" in leaf)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield f"a key of {path}", key if isinstance(key, _KEY_TYPES) else _NoKey(type(key))
            yield from _leaves(item, f"{path}[{key!r}]")
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for index, item in enumerate(value):
            yield from _leaves(item, f"{path}[{index}]")
    else:
        yield path, value
