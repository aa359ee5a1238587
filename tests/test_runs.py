"""The guard that notices when fewer databases were tested than should have been."""

from __future__ import annotations

import pytest

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
