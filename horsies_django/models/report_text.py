"""A recovery report as text."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from django.utils import timezone

if TYPE_CHECKING:
    from .recovery import RecoveredTask, RecoveryReport


def report_as_text(report: RecoveryReport) -> str:
    """Return the report as a person reads it on a terminal."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: RecoveryReport) -> Iterator[str]:
    yield "=== Queue Recovery Report ==="
    if report.dry_run:
        yield "Dry run: nothing was changed"
    yield f"Started: {_moment(report.started_at)}"
    yield f"Trigger: {report.trigger} by {report.actor}"
    if report.duration_ms is not None:
        yield f"Duration: {report.duration_ms / 1000:.1f}s"
    yield ""
    yield f"Integrity Check: {_verdict(report.integrity_passed)}"
    yield f"WAL Checkpointed: {report.wal_frames_checkpointed} frames"
    yield ""
    yield f"Orphaned Tasks Found: {report.orphans_found}"
    for task in report.tasks.order_by("pk"):
        yield f"  - {_recovered(task)}"
    yield ""
    yield f"Dead Workers: {len(report.dead_workers)}"
    for worker in report.dead_workers:
        yield f"  - {worker['name']} (last heartbeat: {worker['last_heartbeat_age']} ago)"
    if report.pruned:
        yield ""
        yield "Pruned: " + ", ".join(f"{count} {what}" for what, count in report.pruned.items())
    if report.notes:
        yield ""
        yield "Notes:"
        for note in report.notes:
            yield f"  - {note}"
    yield ""
    if report.completed_at is None:
        yield "Recovery Incomplete"
    else:
        yield f"Recovery Complete: {_moment(report.completed_at)}"


def _recovered(task: RecoveredTask) -> str:
    if not task.success:
        return f"{task.task_id}: FAILED to recover ({task.error})"
    if task.action == "fail":
        return f"{task.task_id}: failed ({task.reason or 'max attempts exceeded'})"
    return f"{task.task_id}: {task.action} (attempt {task.attempt_count}/{task.max_attempts})"


def _verdict(passed: bool | None) -> str:
    return {None: "NOT RUN", True: "PASSED", False: "FAILED"}[passed]


def _moment(moment: datetime) -> str:
    aware = moment if timezone.is_aware(moment) else timezone.make_aware(moment)
    return aware.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
