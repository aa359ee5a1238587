"""A recovery report as text."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.factories import RecoveredTaskFactory, RecoveryReportFactory

pytestmark = pytest.mark.django_db


def test_a_full_report_has_the_form_of_the_seed():
    report = RecoveryReportFactory(
        trigger="startup",
        started_at=datetime(2024, 1, 15, 10, 30, tzinfo=UTC),
        completed_at=datetime(2024, 1, 15, 10, 30, 1, tzinfo=UTC),
        duration_ms=1200,
        wal_frames_checkpointed=145,
        orphans_found=3,
        dead_workers=[{"name": "worker-001", "last_heartbeat_age": "5m"}],
        pruned={"heartbeats": 7},
        notes=["the database was restarted 3 s ago: one round of grace"],
    )
    retried = RecoveredTaskFactory(report=report, action="retry", attempt_count=2)
    failed = RecoveredTaskFactory(report=report, action="fail", reason="max attempts exceeded")
    broken = RecoveredTaskFactory(report=report, success=False, error="deadlock detected")

    assert (
        report.as_text()
        == f"""\
=== Queue Recovery Report ===
Started: 2024-01-15T10:30:00Z
Trigger: startup by system/recovery
Duration: 1.2s

Integrity Check: PASSED
WAL Checkpointed: 145 frames

Orphaned Tasks Found: 3
  - {retried.task_id}: retry (attempt 2/3)
  - {failed.task_id}: failed (max attempts exceeded)
  - {broken.task_id}: FAILED to recover (deadlock detected)

Dead Workers: 1
  - worker-001 (last heartbeat: 5m ago)

Pruned: 7 heartbeats

Notes:
  - the database was restarted 3 s ago: one round of grace

Recovery Complete: 2024-01-15T10:30:01Z
"""
    )


def test_a_report_that_was_cut_short_says_so():
    report = RecoveryReportFactory(dry_run=True, integrity_passed=None, completed_at=None, duration_ms=None)
    text = report.as_text()
    assert "Dry run: nothing was changed\n" in text
    assert "Integrity Check: NOT RUN\n" in text
    assert text.endswith("Recovery Incomplete\n")
