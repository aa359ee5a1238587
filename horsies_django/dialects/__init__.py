"""The SQL of the hot path, and the only place that knows one database from another."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from django.core.exceptions import ImproperlyConfigured
from django.db.utils import load_backend

from .base import Dialect
from .rows import Attempt, Claim, Ending, Enqueued, NewTask

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

__all__ = [
    "Attempt",
    "Claim",
    "Dialect",
    "Ending",
    "Enqueued",
    "NewTask",
    "dialect_for",
    "django_can_connect",
    "missing_driver",
    "vendor_of",
]


def dialect_for(connection: BaseDatabaseWrapper) -> Dialect:
    """Return the dialect that speaks to this database."""
    return _dialect(connection.vendor)


def vendor_of(engine: str) -> str | None:
    """Return the vendor behind a database ENGINE, third-party wrappers included; None if we have no dialect."""
    for vendor, names in {"postgresql": ("postgres", "postgis"), "sqlite": ("sqlite", "spatialite")}.items():
        if any(name in engine.lower() for name in names):
            return vendor
    try:
        vendor = load_backend(engine).DatabaseWrapper.vendor
    except (ImportError, ImproperlyConfigured, AttributeError):
        return None
    return vendor if vendor in ("postgresql", "sqlite") else None


def missing_driver(engine: str) -> str | None:
    """Return the pip command for the driver of a database, where it is not installed."""
    if vendor_of(engine) != "postgresql" or _can_import("psycopg"):
        return None
    return "python -m pip install 'horsies-django[postgres]'"


def django_can_connect(engine: str) -> bool:
    """Tell whether Django finds a driver for a database; it would also take psycopg2, which we do not."""
    return missing_driver(engine) is None or _can_import("psycopg2")


def _can_import(module: str) -> bool:
    try:
        import_module(module)
    except ImportError:
        return False
    return True


@cache
def _dialect(vendor: str) -> Dialect:
    match vendor:
        case "postgresql":
            from .postgresql import PostgreSQL

            return PostgreSQL()
        case "sqlite":
            from .sqlite import SQLite

            return SQLite()
    raise ImproperlyConfigured(
        f"horsies cannot keep its queue in a database of kind {vendor!r}. Use PostgreSQL or SQLite, "
        "and name it in HORSIES['DATABASE']."
    )
