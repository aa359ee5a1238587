"""The system checks: stable ids, and hints one can act on."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.core import checks
from django.db import connection, connections
from django.test import override_settings
from django.utils import timezone

from horsies_django.checks.databases import check_databases
from horsies_django.checks.live import check_live_databases
from horsies_django.checks.settings import check_settings
from horsies_django.checks.tasks import check_task_backends
from horsies_django.dialects import dialect_for

HORSIES_BACKEND = "horsies_django.backend.HorsiesBackend"
SQLITE = {
    "ENGINE": "django.db.backends.sqlite3",
    "NAME": "/nowhere/db.sqlite3",
    "OPTIONS": {"transaction_mode": "IMMEDIATE", "init_command": "PRAGMA journal_mode=WAL"},
    "TIME_ZONE": None,
}
POSTGRESQL = {"ENGINE": "django.db.backends.postgresql", "NAME": "db", "OPTIONS": {}, "TIME_ZONE": None}


@pytest.fixture
def database(monkeypatch):
    """Describe the default database, and others, as the settings would."""

    def describe(settings_dict, **others):
        monkeypatch.setattr(connections, "settings", {"default": settings_dict, **others})

    return describe


def ids(messages):
    return [message.id for message in messages]


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ({"RECOVRY": {}}, "horsies.E001"),
        ({"WORKER": {"poll": 1}}, "horsies.E001"),
        ({"RECOVERY": {"check_interval_ms": "soon"}}, "horsies.E002"),
        ({"RECOVERY": {"check_interval_ms": 5}}, "horsies.E003"),
        ({"RECOVERY": {"worker_stale_threshold_ms": 12_000}}, "horsies.E004"),
        ({"RECOVERY": {"stale_running_action": "shrug"}}, "horsies.E005"),
    ],
)
def test_every_kind_of_finding_has_an_id_and_a_hint(setting, expected):
    with override_settings(HORSIES=setting):
        (message,) = check_settings()
    assert message.id == expected
    assert message.hint.startswith(("Nearest valid value: ", "Did you mean "))
    assert message.level == checks.ERROR


def test_all_findings_are_reported_each_on_its_own():
    setting = {"RECOVERY": {"check_interval_ms": 5, "max_recovery_attempts": -1}, "WORKRE": {}}
    with override_settings(HORSIES=setting):
        assert sorted(ids(check_settings())) == ["horsies.E001", "horsies.E003", "horsies.E003"]
        # The other checks leave the talking to this one.
        assert check_databases() == []
        assert check_live_databases(databases=["default"]) == []
        assert check_task_backends() == []


def test_slow_detection_is_told_with_the_time_it_takes():
    recovery = {"running_stale_threshold_ms": 600_000}
    with override_settings(HORSIES={"RECOVERY": recovery}):
        (message,) = check_settings()
    assert (message.id, "10.5 minutes" in message.msg) == ("horsies.W005", True)
    with override_settings(HORSIES={"RECOVERY": recovery | {"running_stale_threshold_ms": 570_000}}):
        assert check_settings() == []


def test_a_good_database_is_passed_over_in_silence(database):
    for settings_dict in (SQLITE, POSTGRESQL):
        database(settings_dict)
        assert check_databases() == []


@override_settings(HORSIES={"DATABASE": "queu"})
def test_an_alias_that_does_not_exist(database):
    database(SQLITE, queue=SQLITE)
    (message,) = check_settings()
    assert (message.id, message.hint) == ("horsies.E006", "Nearest valid value: 'queue'.")
    assert check_databases() == []


@override_settings(HORSIES={"DATABASE": "queue"})
def test_a_queue_outside_the_default_database_is_no_longer_atomic_with_the_users_data(database):
    database(SQLITE, queue=POSTGRESQL)
    (message,) = check_databases()
    assert (message.id, "rolled back together with your data" in message.msg) == ("horsies.W003", True)


@pytest.mark.parametrize("engine", ["django.db.backends.mysql", "django.db.backends.oracle"])
def test_a_database_we_have_no_dialect_for(database, engine):
    database({**SQLITE, "ENGINE": engine})
    assert ids(check_databases()) == ["horsies.E008"]


@pytest.mark.parametrize(
    "engine", ["django.contrib.gis.db.backends.postgis", "django_prometheus.db.backends.sqlite3", "tests.engine"]
)
def test_wrappers_of_the_databases_we_know_are_known(database, engine):
    database({**SQLITE, "ENGINE": engine})
    assert check_databases() == []


def test_psycopg_missing(database, monkeypatch):
    database(POSTGRESQL)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    (message,) = check_databases()
    assert (message.id, message.hint) == ("horsies.E007", "Run: python -m pip install 'horsies-django[postgres]'")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["horsies.W001", "horsies.W002"]),
        ({"transaction_mode": "IMMEDIATE"}, ["horsies.W001"]),
        ({"transaction_mode": "deferred", "init_command": "PRAGMA journal_mode = 'wal';"}, ["horsies.W002"]),
        ({"transaction_mode": "immediate", "init_command": "PRAGMA synchronous=FULL; PRAGMA journal_mode=WAL;"}, []),
        ({"transaction_mode": "IMMEDIATE", "init_command": "PRAGMA journal_mode=WALRUS"}, ["horsies.W001"]),
    ],
)
def test_sqlite_without_wal_or_immediate_transactions(database, options, expected):
    database({**SQLITE, "OPTIONS": options})
    assert ids(check_databases()) == expected


@pytest.mark.parametrize(("mode", "expected"), [("wal", []), ("delete", ["horsies.W001"])])
def test_a_sqlite_file_may_be_in_wal_mode_by_itself(database, tmp_path, mode, expected):
    file = tmp_path / "db.sqlite3"
    with sqlite3.connect(file) as db:
        db.execute(f"PRAGMA journal_mode={mode}")
        db.execute("CREATE TABLE t (x)")
    db.close()
    database({**SQLITE, "NAME": file, "OPTIONS": {"transaction_mode": "IMMEDIATE"}})
    assert ids(check_databases()) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (":memory:", ["horsies.W007"]),
        ("file:shared?mode=memory&cache=shared", ["horsies.W007"]),
        ("file:memorydb_default?mode=memory&cache=shared", []),  # the test runner's
    ],
)
def test_a_database_in_memory_cannot_be_shared(database, name, expected):
    database({**SQLITE, "NAME": name})
    assert ids(check_databases()) == expected


@pytest.mark.parametrize(
    ("use_tz", "zone", "own_zone", "expected"),
    [
        (True, "Europe/Berlin", None, []),
        (True, "UTC", "Europe/Berlin", ["horsies.E010"]),
        (False, "Europe/Berlin", None, ["horsies.E010"]),
        (False, "UTC", None, []),
    ],
)
def test_sqlite_must_keep_utc(database, use_tz, zone, own_zone, expected):
    database({**SQLITE, "TIME_ZONE": own_zone})
    with override_settings(USE_TZ=use_tz, TIME_ZONE=zone):
        assert ids(check_databases()) == expected


def test_an_old_sqlite(database, monkeypatch):
    database(SQLITE)
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 39, 4))
    assert ids(check_databases()) == ["horsies.E011"]


@pytest.mark.django_db
def test_the_database_itself_is_looked_at_only_when_asked():
    assert check_live_databases() == []
    assert check_live_databases(databases=["default"]) == []


@pytest.mark.postgresql
@pytest.mark.django_db
@pytest.mark.parametrize("hours", [-1, 1])
def test_clocks_that_differ(monkeypatch, hours):
    now = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: now() + timedelta(hours=hours))
    (message,) = check_live_databases(databases=["default"])
    assert (message.id, "3600 s apart" in message.msg) == ("horsies.W009", True)


@pytest.mark.django_db
def test_a_database_that_is_too_old(monkeypatch):
    monkeypatch.setattr(type(dialect_for(connection)), "too_old", lambda *args: "PostgreSQL 13")
    (message,) = check_live_databases(databases=["default"])
    assert (message.id, "PostgreSQL 13" in message.msg) == ("horsies.E011", True)


def test_horsies_installed_but_not_used():
    with override_settings(TASKS={}):
        assert ids(check_task_backends()) == ["horsies.W006"]


def test_a_cap_for_a_queue_nobody_has():
    backend = {"BACKEND": HORSIES_BACKEND, "QUEUES": ["default", "mail"]}
    with override_settings(TASKS={"default": backend}, HORSIES={"QUEUES": {"mial": {}, "mail": {}}}):
        (message,) = check_task_backends()
        assert (message.id, message.hint) == ("horsies.W008", "Did you mean 'mail'?")
    with override_settings(HORSIES={"QUEUES": {"mial": {}}}):
        assert check_task_backends() == []


def check_project(**settings: object) -> str:
    lines = "\n".join(f"{name} = {value!r}" for name, value in settings.items())
    code = f"""
from testproject.settings import *
{lines}
"""
    return run_check(code)


def run_check(code: str) -> str:
    script = f"""
import sys, types
module = types.ModuleType("broken_settings")
exec({code!r}, module.__dict__)
sys.modules["broken_settings"] = module
from django.core.management import execute_from_command_line
execute_from_command_line(["manage.py", "check"])
"""
    env = {"DJANGO_SETTINGS_MODULE": "broken_settings", "PYTHONPATH": str(Path.cwd())}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True)
    return done.stderr + done.stdout


def test_manage_py_check_tells_all_that_is_wrong():
    output = check_project(HORSIES={"RECOVERY": {"check_intervall_ms": 5, "max_recovery_attempts": 999}})
    assert "(horsies.E001) HORSIES['RECOVERY']['check_intervall_ms'] = 5: no such key" in output
    assert "HINT: Did you mean 'check_interval_ms'?" in output
    assert "(horsies.E003) HORSIES['RECOVERY']['max_recovery_attempts'] = 999" in output
    assert "HINT: Nearest valid value: 100." in output


def test_the_backend_without_its_app():
    output = run_check("""
import horsies_django  # as a tasks.py would

SECRET_KEY = "x"
INSTALLED_APPS = []
TASKS = {"default": {"BACKEND": "horsies_django.backend.HorsiesBackend"}}
""")
    assert "(horsies.E009)" in output
    assert "'horsies_django' is not in INSTALLED_APPS. Add it, and run: python manage.py migrate" in output
