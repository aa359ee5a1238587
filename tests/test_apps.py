"""The app at start-up, and the package as a whole."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import metadata, requires
from io import StringIO

import pytest
from django.apps import apps
from django.core.management import call_command

import horsies_django
from horsies_django import signals, states
from tests.processes import database_url


def run_without(modules: list[str], code: str) -> str:
    """Run code in a process that cannot import some modules; return what it says on standard error."""
    script = f"import sys\nfor name in {modules!r}: sys.modules[name] = None\n{code}"
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stderr


SET_UP = """
import django
from django.conf import settings
settings.configure(
    INSTALLED_APPS=["django.contrib.contenttypes", "horsies_django"],
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "x"}},
    TASKS={"default": {"BACKEND": "horsies_django.backend.HorsiesBackend"}},
)
django.setup()
"""


def test_the_app_has_its_label():
    assert apps.get_app_config("horsies").name == "horsies_django"


def test_without_any_driver_the_error_names_the_pip_command():
    error = run_without(["psycopg", "psycopg2"], SET_UP)
    assert "ImproperlyConfigured" in error
    assert "python -m pip install 'horsies-django[postgres]'" in error


def test_without_the_backport_the_error_names_the_pip_command():
    code = "import django; django.VERSION = (5, 2, 0, 'final', 0); import horsies_django"
    error = run_without(["django_tasks"], code)
    assert "ModuleNotFoundError: Django" in error
    assert "python -m pip install 'django-tasks>=0.12'" in error


def test_a_backport_that_is_itself_broken_is_not_called_missing():
    code = "import django; django.VERSION = (5, 2, 0, 'final', 0); import horsies_django"
    error = run_without(["asgiref"], code)
    assert "pip install" not in error


def test_the_public_names_are_there():
    for name in ("task", "RetryPolicy", "Retry", "TaskFailure", "RecoveryConfig", "enqueue_many", "HorsiesTask"):
        assert name in horsies_django.__all__
        assert hasattr(horsies_django, name)
    for name in [
        "task_claimed",
        "task_retried",
        "task_recovered",
        "task_cancelled",
        "recovery_started",
        "recovery_completed",
        "worker_started",
        "worker_stopped",
        "worker_dead",
    ]:
        assert hasattr(signals, name)


def test_the_error_codes_are_those_of_the_contract():
    assert states.ErrorCode.values == [
        "WORKER_CRASHED",
        "CRASH_LIMIT_EXCEEDED",
        "TASK_TIMEOUT",
        "TASK_CANCELLED",
        "TASK_EXPIRED",
        "UNHANDLED_EXCEPTION",
        "WORKER_RESOLUTION_ERROR",
        "WORKER_SERIALIZATION_ERROR",
        "RESULT_NOT_AVAILABLE",
        "UPSTREAM_SKIPPED",
        "FAILED_BY_OPERATOR",
    ]


def test_the_distribution_has_its_name_version_and_extras():
    found = metadata("horsies-django")
    assert found["Version"] == horsies_django.__version__
    assert {"postgres", "schedule", "metrics", "dev"} <= set(found.get_all("Provides-Extra"))
    assert any(requirement.startswith("django>=5.2") for requirement in requires("horsies-django"))


@pytest.mark.django_db
def test_no_migration_is_missing():
    output = StringIO()
    call_command("makemigrations", "--check", "--dry-run", stdout=output)
    assert output.getvalue() == "No changes detected\n"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "command", [["check", "--database", "default", "--fail-level", "WARNING"], ["migrate", "--plan"]]
)
def test_commands_that_look_at_the_database_work_in_a_fresh_process(command):
    env = {**os.environ, "DATABASE_URL": database_url()}
    done = subprocess.run([sys.executable, "manage.py", *command], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_database_that_cannot_be_reached_is_djangos_to_tell():
    env = {**os.environ, "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nothing"}
    command = [sys.executable, "manage.py", "check", "--database", "default"]
    assert "NoneType" not in subprocess.run(command, env=env, capture_output=True, text=True).stderr


def test_enqueueing_without_the_app_says_so():
    code = """
import django
from django.conf import settings
settings.configure(TASKS={"default": {"BACKEND": "horsies_django.backend.HorsiesBackend"}})
django.setup()
from tests.plain_tasks import noop
noop.enqueue()
"""
    error = run_without([], code)
    assert "ImproperlyConfigured: TASKS uses horsies, but 'horsies_django' is not in INSTALLED_APPS" in error
