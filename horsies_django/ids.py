"""How things are named: rows by UUIDv7, which sorts by time, and code by dotted path."""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

_lock = threading.Lock()
_last = 0


def _python_uuid7() -> uuid.UUID:
    global _last
    # RFC 9562: 48 bits of milliseconds, then, as its method 3 allows, 12 bits of the fraction of a
    # millisecond; the fraction is stepped by one when two ids fall into the same slot.
    nanoseconds = time.time_ns()
    milliseconds, rest = divmod(nanoseconds, 1_000_000)
    slot = (milliseconds << 12) | (rest * 4096 // 1_000_000)
    with _lock:
        _last = slot = max(slot, _last + 1)
    random = int.from_bytes(os.urandom(8), "big") & 0x3FFF_FFFF_FFFF_FFFF
    value = (slot >> 12) << 80 | 0x7 << 76 | (slot & 0xFFF) << 64 | 0b10 << 62 | random
    return uuid.UUID(int=value)


def _forget_lock() -> None:
    global _lock
    _lock = threading.Lock()


# A fork while another thread holds the lock would leave the child with a lock nobody frees.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_lock)

_make: Callable[[], uuid.UUID] = getattr(uuid, "uuid7", _python_uuid7)


def uuid7() -> uuid.UUID:
    """Return a new id, greater than every one this process made before."""
    return _make()


def dotted_path(thing: Any) -> str:
    """Return the path by which a function or a class can be imported."""
    return f"{thing.__module__}.{thing.__qualname__}"
