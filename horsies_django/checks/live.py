"""The database of the queue itself. Runs where Django checks databases: `migrate`, `check --database`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.core.checks import CheckMessage, Error, Warning
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connections
from django.utils import timezone

from ..conf import get_config
from ..dialects import dialect_for

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

TOLERATED_SKEW = timedelta(seconds=5)


def check_live_databases(*, databases: Sequence[str] | None = None, **kwargs: Any) -> list[CheckMessage]:
    """Report what only the database itself can tell: its version and its clock."""
    try:
        alias = get_config().database
    except ImproperlyConfigured:
        return []  # check_settings tells why
    if alias not in (databases or ()):
        return []
    try:
        return list(_check(connections[alias]))
    except (DatabaseError, ImproperlyConfigured):
        return []  # Django tells that the database cannot be reached


def _check(connection: BaseDatabaseWrapper) -> Iterator[CheckMessage]:
    dialect = dialect_for(connection)
    too_old = dialect.too_old(connection)
    if too_old:
        yield Error(
            f"The database {connection.alias!r} is {too_old}, which is too old for horsies.",
            hint="Use PostgreSQL 14 or newer, or SQLite 3.40 or newer.",
            id="horsies.E011",
        )
    if not dialect.has_clock_of_its_own:
        return
    skew = abs(dialect.current_time(connection) - timezone.now())
    if skew > TOLERATED_SKEW:
        yield Warning(
            f"The clock of this host and that of the database {connection.alias!r} are {skew.total_seconds():.0f} s "
            "apart. Recovery is not affected, but a run_after computed here means another moment there.",
            hint="Synchronise both with NTP.",
            id="horsies.W009",
        )
