from __future__ import annotations

from inspect import iscoroutinefunction

import pytest
from asgiref.sync import async_to_sync
from django.db import connection


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "postgresql: about something that only PostgreSQL has")
    config.addinivalue_line("markers", "sqlite: about something that only SQLite has")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    elsewhere = {"postgresql", "sqlite"} - {connection.vendor}
    deselected = [item for item in items if any(item.get_closest_marker(name) for name in elsewhere)]
    config.hook.pytest_deselected(items=deselected)
    items[:] = [item for item in items if item not in deselected]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine as Django's TestCase does, so that it shares the test's connection."""
    if not iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    async_to_sync(pyfuncitem.obj)(**arguments)
    return True
