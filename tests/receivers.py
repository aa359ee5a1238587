"""Listening to signals for the length of a block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.dispatch import Signal


@contextmanager
def receiving(receiver: Callable[..., Any], *signals: Signal) -> Iterator[None]:
    for signal in signals:
        signal.connect(receiver)
    try:
        yield
    finally:
        for signal in signals:
            signal.disconnect(receiver)
