"""The database of the queue, as the settings describe it. Nothing here connects to it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning
from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, connections

from ..conf import get_config
from ..dialects import missing_driver, vendor_of

OLDEST_SQLITE = (3, 40)


def check_databases(**kwargs: Any) -> list[CheckMessage]:
    """Report what is wrong with the database that HORSIES['DATABASE'] names."""
    try:
        alias = get_config().database
    except ImproperlyConfigured:
        return []  # check_settings tells why
    database = connections.settings[alias]
    checks = {"postgresql": _check_postgresql, "sqlite": _check_sqlite}
    vendor = vendor_of(database["ENGINE"])
    if vendor is None:
        return [_unsupported(alias, database["ENGINE"])]
    messages = list(checks[vendor](alias, database))
    if alias != DEFAULT_DB_ALIAS:
        messages.append(_not_the_default(alias))
    return messages


def _unsupported(alias: str, engine: str) -> CheckMessage:
    return Error(
        f"horsies cannot keep its queue in the database {alias!r}, which uses {engine}.",
        hint="Add a PostgreSQL or SQLite database to DATABASES and name it in HORSIES['DATABASE'].",
        id="horsies.E008",
    )


def _not_the_default(alias: str) -> CheckMessage:
    return Warning(
        f"The queue is in the database {alias!r} and not in the default one, so a task is no longer enqueued or "
        "rolled back together with your data.",
        hint="Use the default database for the queue, or silence this warning (SILENCED_SYSTEM_CHECKS), add "
        "'horsies_django.routers.HorsiesRouter' to DATABASE_ROUTERS, and enqueue in transaction.on_commit().",
        id="horsies.W003",
    )


def _check_postgresql(alias: str, database: dict[str, Any]) -> Iterator[CheckMessage]:
    command = missing_driver(database["ENGINE"])
    if command:
        yield Error(
            f"The database {alias!r} is PostgreSQL, and horsies speaks to it through psycopg 3, which is not "
            "installed.",
            hint=f"Run: {command}",
            id="horsies.E007",
        )


def _check_sqlite(alias: str, database: dict[str, Any]) -> Iterator[CheckMessage]:
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        yield Error(
            f"SQLite {sqlite3.sqlite_version} is too old for horsies.",
            hint="Use a Python that comes with SQLite 3.40 or newer.",
            id="horsies.E011",
        )
    if not _keeps_utc(database):
        yield Error(
            f"The database {alias!r} would keep times of day without their zone, and horsies could not tell how "
            "old a heartbeat is when the clocks change.",
            hint="Set USE_TZ = True (or TIME_ZONE = 'UTC'), and remove TIME_ZONE from this database.",
            id="horsies.E010",
        )
    if _made_for_tests(database):
        return
    if _in_memory(database):
        yield Warning(
            f"The database {alias!r} is in memory, so a worker in another process cannot see its tasks.",
            hint="Give DATABASES a file as NAME, or use horsies_django.testing where this is for tests.",
            id="horsies.W007",
        )
        return
    if not _uses_wal(database):
        yield Warning(
            f"The database {alias!r} is not in WAL mode, so every write keeps all readers waiting.",
            hint="Set DATABASES[…]['OPTIONS']['init_command'] = 'PRAGMA journal_mode=WAL'.",
            id="horsies.W001",
        )
    if str(database.get("OPTIONS", {}).get("transaction_mode", "")).upper() != "IMMEDIATE":
        yield Warning(
            f"Transactions in the database {alias!r} do not begin as writers, so two at a time can fail with "
            "'database is locked'.",
            hint="Set DATABASES[…]['OPTIONS']['transaction_mode'] = 'IMMEDIATE'.",
            id="horsies.W002",
        )


def _keeps_utc(database: dict[str, Any]) -> bool:
    zone = database.get("TIME_ZONE") or ("UTC" if settings.USE_TZ else settings.TIME_ZONE)
    return zone in ("UTC", "Etc/UTC")


def _in_memory(database: dict[str, Any]) -> bool:
    return ":memory:" in str(database["NAME"]) or "mode=memory" in str(database["NAME"])


def _made_for_tests(database: dict[str, Any]) -> bool:
    return str(database["NAME"]).startswith("file:memorydb_")  # as Django's test runner names it


def _uses_wal(database: dict[str, Any]) -> bool:
    command = str(database.get("OPTIONS", {}).get("init_command") or "")
    return bool(re.search(r"journal_mode\s*=\s*['\"]?wal\b", command, re.I)) or _file_is_wal(database["NAME"])


def _file_is_wal(name: Any) -> bool:
    """Tell whether the file itself says that it is in WAL mode: bytes 18 and 19 of its header are 2."""
    try:
        with Path(name).open("rb") as file:
            return file.read(20)[18:20] == b"\x02\x02"
    except OSError:
        return False
