"""The guard that notices when fewer databases were tested than should have been."""

from __future__ import annotations

import subprocess
import sys

import pytest
from django.db import connection

from tests.runs import find_problems

SQLITE = {"database": "sqlite", "passed": 5}
POSTGRESQL = {"database": "postgresql", "passed": 5}


@pytest.mark.parametrize(
    ("runs", "problems"),
    [
        ({"py311-sqlite": SQLITE, "py311-postgres": POSTGRESQL}, []),
        ({}, ["No tests ran at all."]),
        ({"py311-sqlite": SQLITE}, ["py311 was not tested on postgresql."]),
        ({"py311-postgres": POSTGRESQL}, ["py311 was not tested on sqlite."]),
        ({"py311-sqlite": SQLITE, "py311-postgres": SQLITE}, ["py311-postgres ran 5 tests on sqlite."]),
        (
            {"py311-sqlite": SQLITE | {"passed": 0}, "py311-postgres": POSTGRESQL},
            ["py311-sqlite ran 0 tests on sqlite."],
        ),
    ],
)
def test_what_did_not_run_is_told(runs, problems):
    assert list(find_problems(runs)) == problems


def test_a_run_with_nothing_in_it_fails(tmp_path):
    done = subprocess.run([sys.executable, "tests/runs.py", str(tmp_path)], capture_output=True, text=True)
    assert (done.returncode, "No tests ran at all." in done.stderr) == (1, True)
    assert "py312-django60: NOT RUN" in done.stdout


def test_the_benchmark_prints_both_and_their_ratio():
    kind = "postgres" if connection.vendor == "postgresql" else "sqlite"
    command = [sys.executable, "-m", "benchmarks.enqueue", "--database", kind, "--rounds=1", "--tasks=3", "--many=9"]
    output = subprocess.run(command, capture_output=True, text=True).stdout
    for line in (
        "create ",
        "enqueue ",
        "bulk_create ",
        "enqueue_many ",
        "enqueue / create",
        "enqueue_many / bulk_create",
    ):
        assert f"  {line}" in output
