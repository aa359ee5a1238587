"""The planner takes the partial indexes, with statistics and without."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from horsies_django.dialects import dialect_for
from horsies_django.models import Task
from horsies_django.queue.claim import claim

pytestmark = pytest.mark.django_db

FILL = """
INSERT INTO horsies_tasks (id, name, queue_name, args, kwargs, status, claimed_at, started_at, finished_at, priority)
SELECT {id}, 'tests.tasks.add', 'q' || (n %% 3), '[]', '{{}}', status,
    CASE WHEN status <> 'PENDING' THEN {now} END,
    CASE WHEN status NOT IN ('PENDING', 'CLAIMED') THEN {now} END,
    CASE WHEN status = 'COMPLETED' THEN {now} END,
    n %% 5
FROM (
    SELECT n, CASE WHEN n <= 100000 THEN 'COMPLETED' WHEN n <= 110000 THEN 'PENDING'
        WHEN n <= 110050 THEN 'CLAIMED' ELSE 'RUNNING' END AS status
    FROM {numbers}
) AS numbered
"""
POSTGRESQL = {"id": "gen_random_uuid()", "now": "now()", "numbers": "generate_series(1, 110100) AS numbers (n)"}
SQLITE = {
    "id": "lower(hex(randomblob(16)))",
    "now": "strftime('%%Y-%%m-%%d %%H:%%M:%%f', 'now')",
    "numbers": "(WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 110100) SELECT n FROM c)",
}


@pytest.fixture(params=["analysed", "never analysed"])
def full_table(request):
    """100,000 finished, 10,000 pending, 100 tasks in flight."""
    words = POSTGRESQL if connection.vendor == "postgresql" else SQLITE
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # What the planner has seen of the rows of other tests, it forgets.
            cursor.execute("TRUNCATE horsies_tasks")
            cursor.execute("DELETE FROM pg_statistic WHERE starelid = 'horsies_tasks'::regclass")
        cursor.execute(FILL.format(**words), [])
        if request.param == "analysed":
            cursor.execute("ANALYZE horsies_tasks")


def plan_of(action) -> str:
    """Return the plan of the last statement that an action sends."""
    with CaptureQueriesContext(connection) as queries:
        action()
    statement = queries[-1]["sql"]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(f"EXPLAIN (FORMAT JSON) {statement}")
            return json.dumps(cursor.fetchone()[0])
        cursor.execute(f"EXPLAIN QUERY PLAN {statement}")
        return "\n".join(row[3] for row in cursor.fetchall())


def claim_ten(due_only=True):
    return claim(connection, queues=["q0", "q1", "q2"], limit=10, due_only=due_only)


def stale():
    return list(Task.objects.silent_for(timedelta(seconds=60)))


def pending_queues():
    return dialect_for(connection).pending_queues(connection)


@pytest.mark.postgresql
@pytest.mark.parametrize("due_only", [True, False])
def test_a_claim_walks_the_claim_index_and_sorts_nothing_but_its_candidates(full_table, due_only):
    plan = plan_of(lambda: claim_ten(due_only))
    assert '"Index Name": "horsies_task_claim"' in plan
    assert '"Index Name": "horsies_tasks_pkey"' in plan
    assert '"Seq Scan"' not in plan
    assert '"Bitmap Heap Scan"' not in plan
    # The one sort is over the ten candidates of each queue.
    assert plan.count('"Node Type": "Sort"') == 1


@pytest.mark.postgresql
def test_the_stale_scan_looks_at_tasks_in_flight_only(full_table):
    plan = plan_of(stale)
    assert '"Index Name": "horsies_task_in_flight"' in plan
    assert '"Index Name": "horsies_heartbeat_newest"' in plan
    assert '"Seq Scan"' not in plan


@pytest.mark.postgresql
def test_the_names_of_queues_are_found_by_walking_the_index(full_table):
    plan = plan_of(pending_queues)
    assert '"Index Name": "horsies_task_claim"' in plan
    assert '"Seq Scan"' not in plan


@pytest.mark.sqlite
def test_on_sqlite_the_same_indexes_are_used(full_table):
    assert "USING INDEX horsies_task_claim (queue_name=?)" in plan_of(claim_ten)
    assert "USING INDEX horsies_task_in_flight" in plan_of(stale)
    assert "INDEX horsies_heartbeat_newest (task_id=?" in plan_of(stale)
    queues = plan_of(pending_queues)
    assert "USING INDEX horsies_task_claim (queue_name>?)" in queues
    for plan in (plan_of(claim_ten), plan_of(stale), queues):
        assert "SCAN horsies_tasks\n" not in plan + "\n"


def test_the_statements_do_what_they_say(full_table):
    assert pending_queues() == ["q0", "q1", "q2"]
    assert len(claim_ten()) == 10
    assert Task.objects.filter(status="CLAIMED", claim_generation=1).count() == 10
    assert stale() == []
