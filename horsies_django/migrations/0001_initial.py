import django.db.models.deletion
import django.db.models.functions.datetime
import horsies_django.ids
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Worker",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=horsies_django.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=255, verbose_name="name")),
                ("hostname", models.CharField(blank=True, default="", max_length=255, verbose_name="host")),
                ("pid", models.PositiveIntegerField(blank=True, null=True, verbose_name="process id")),
                ("queues", models.JSONField(blank=True, default=list, verbose_name="queues")),
                ("processes", models.PositiveIntegerField(default=1, verbose_name="processes")),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("ALIVE", "Alive"),
                            ("DRAINING", "Draining"),
                            ("STOPPED", "Stopped"),
                            ("DEAD", "Dead"),
                        ],
                        db_default="ALIVE",
                        default="ALIVE",
                        max_length=16,
                        verbose_name="status",
                    ),
                ),
                (
                    "started_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), verbose_name="started at"
                    ),
                ),
                (
                    "last_heartbeat_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), verbose_name="last heartbeat at"
                    ),
                ),
                ("stopped_at", models.DateTimeField(blank=True, null=True, verbose_name="stopped at")),
                ("version", models.CharField(blank=True, default="", max_length=64, verbose_name="version")),
            ],
            options={
                "verbose_name": "worker",
                "verbose_name_plural": "workers",
                "db_table": "horsies_workers",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("status__in", ["ALIVE", "DRAINING", "STOPPED", "DEAD"])),
                        name="horsies_worker_status",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="WorkerState",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "snapshot_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), verbose_name="snapshot at"
                    ),
                ),
                ("tasks_running", models.PositiveIntegerField(default=0, verbose_name="tasks running")),
                ("tasks_claimed", models.PositiveIntegerField(default=0, verbose_name="tasks claimed")),
                ("memory_mb", models.FloatField(blank=True, null=True, verbose_name="memory (MB)")),
                ("cpu_percent", models.FloatField(blank=True, null=True, verbose_name="CPU (%)")),
                ("load", models.FloatField(blank=True, null=True, verbose_name="load")),
                (
                    "worker",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="states",
                        to="horsies.worker",
                        verbose_name="worker",
                    ),
                ),
            ],
            options={
                "verbose_name": "worker state",
                "verbose_name_plural": "worker states",
                "db_table": "horsies_worker_states",
            },
        ),
        migrations.CreateModel(
            name="Task",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=horsies_django.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=255, verbose_name="task type")),
                (
                    "queue_name",
                    models.CharField(db_default="default", default="default", max_length=100, verbose_name="queue"),
                ),
                (
                    "backend",
                    models.CharField(db_default="default", default="default", max_length=64, verbose_name="backend"),
                ),
                ("priority", models.SmallIntegerField(db_default=0, default=0, verbose_name="priority")),
                ("args", models.JSONField(blank=True, default=list, verbose_name="arguments")),
                ("kwargs", models.JSONField(blank=True, default=dict, verbose_name="keyword arguments")),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("PENDING", "Pending"),
                            ("CLAIMED", "Claimed"),
                            ("RUNNING", "Running"),
                            ("COMPLETED", "Completed"),
                            ("FAILED", "Failed"),
                            ("CANCELLED", "Cancelled"),
                            ("EXPIRED", "Expired"),
                        ],
                        db_default="PENDING",
                        default="PENDING",
                        max_length=16,
                        verbose_name="status",
                    ),
                ),
                (
                    "enqueued_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), verbose_name="enqueued at"
                    ),
                ),
                ("run_after", models.DateTimeField(blank=True, null=True, verbose_name="run after")),
                ("next_retry_at", models.DateTimeField(blank=True, null=True, verbose_name="next retry at")),
                ("expires_at", models.DateTimeField(blank=True, null=True, verbose_name="expires at")),
                ("timeout_ms", models.PositiveBigIntegerField(blank=True, null=True, verbose_name="timeout (ms)")),
                (
                    "claim_generation",
                    models.PositiveIntegerField(db_default=0, default=0, verbose_name="claim generation"),
                ),
                ("claimed_at", models.DateTimeField(blank=True, null=True, verbose_name="claimed at")),
                ("started_at", models.DateTimeField(blank=True, null=True, verbose_name="started at")),
                ("finished_at", models.DateTimeField(blank=True, null=True, verbose_name="finished at")),
                ("runner_pid", models.PositiveIntegerField(blank=True, null=True, verbose_name="runner process id")),
                ("attempt_count", models.PositiveIntegerField(db_default=0, default=0, verbose_name="attempts")),
                ("retry_count", models.PositiveIntegerField(db_default=0, default=0, verbose_name="retries")),
                ("max_retries", models.PositiveIntegerField(db_default=0, default=0, verbose_name="retries allowed")),
                ("recovery_count", models.PositiveIntegerField(db_default=0, default=0, verbose_name="recoveries")),
                ("retry_policy", models.JSONField(blank=True, null=True, verbose_name="retry policy")),
                ("idempotent", models.BooleanField(db_default=False, default=False, verbose_name="safe to run again")),
                ("result", models.JSONField(blank=True, null=True, verbose_name="result")),
                (
                    "error_code",
                    models.CharField(blank=True, db_default="", default="", max_length=64, verbose_name="error code"),
                ),
                (
                    "error_message",
                    models.TextField(blank=True, db_default="", default="", verbose_name="error message"),
                ),
                ("traceback", models.TextField(blank=True, db_default="", default="", verbose_name="traceback")),
                ("progress", models.JSONField(blank=True, null=True, verbose_name="progress")),
                (
                    "cancel_requested_at",
                    models.DateTimeField(blank=True, null=True, verbose_name="cancel requested at"),
                ),
                (
                    "unique_key",
                    models.CharField(blank=True, default=None, max_length=200, null=True, verbose_name="unique key"),
                ),
                (
                    "awaited",
                    models.BooleanField(db_default=False, default=False, editable=False, verbose_name="awaited"),
                ),
                (
                    "workflow_task",
                    models.UUIDField(
                        blank=True,
                        db_column="workflow_task_id",
                        editable=False,
                        null=True,
                        verbose_name="workflow node",
                    ),
                ),
                (
                    "worker",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="tasks",
                        to="horsies.worker",
                        verbose_name="worker",
                    ),
                ),
            ],
            options={
                "verbose_name": "task",
                "verbose_name_plural": "tasks",
                "db_table": "horsies_tasks",
                "indexes": [
                    models.Index(
                        models.F("queue_name"),
                        models.OrderBy(models.F("priority"), descending=True),
                        models.F("enqueued_at"),
                        models.F("id"),
                        condition=models.Q(("status", "PENDING")),
                        name="horsies_task_claim",
                    ),
                    models.Index(
                        models.F("worker"),
                        condition=models.Q(("status__in", ("CLAIMED", "RUNNING"))),
                        name="horsies_task_in_flight",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(
                            ("status__in", ("PENDING", "CLAIMED", "RUNNING")), ("unique_key__isnull", False)
                        ),
                        fields=("name", "unique_key"),
                        name="horsies_task_unique_key",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "status__in",
                                ["PENDING", "CLAIMED", "RUNNING", "COMPLETED", "FAILED", "CANCELLED", "EXPIRED"],
                            )
                        ),
                        name="horsies_task_status",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("priority__gte", -100), ("priority__lte", 100)),
                        name="horsies_task_priority",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "CLAIMED"), _negated=True),
                            ("claimed_at__isnull", False),
                            _connector="OR",
                        ),
                        name="horsies_task_claimed",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "RUNNING"), _negated=True),
                            ("started_at__isnull", False),
                            _connector="OR",
                        ),
                        name="horsies_task_running",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status__in", ("COMPLETED", "FAILED", "CANCELLED", "EXPIRED")), _negated=True),
                            ("finished_at__isnull", False),
                            _connector="OR",
                        ),
                        name="horsies_task_terminal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status__in", ("PENDING", "CLAIMED", "RUNNING")), _negated=True),
                            ("finished_at__isnull", True),
                            _connector="OR",
                        ),
                        name="horsies_task_open",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "COMPLETED"), _negated=True), ("error_code", ""), _connector="OR"
                        ),
                        name="horsies_task_completed",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("timeout_ms__isnull", True), ("timeout_ms__gt", 0), _connector="OR"),
                        name="horsies_task_timeout",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="TaskAttempt",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField(verbose_name="number")),
                ("claim_generation", models.PositiveIntegerField(verbose_name="claim generation")),
                ("runner_pid", models.PositiveIntegerField(blank=True, null=True, verbose_name="runner process id")),
                ("started_at", models.DateTimeField(blank=True, null=True, verbose_name="started at")),
                (
                    "finished_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), verbose_name="finished at"
                    ),
                ),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("COMPLETED", "Completed"),
                            ("FAILED", "Failed"),
                            ("CRASHED", "Crashed"),
                            ("TIMED_OUT", "Timed out"),
                            ("CANCELLED", "Cancelled"),
                            ("REJECTED", "Rejected"),
                        ],
                        max_length=16,
                        verbose_name="outcome",
                    ),
                ),
                (
                    "error_code",
                    models.CharField(blank=True, db_default="", default="", max_length=64, verbose_name="error code"),
                ),
                (
                    "error_message",
                    models.TextField(blank=True, db_default="", default="", verbose_name="error message"),
                ),
                (
                    "exception_class",
                    models.CharField(
                        blank=True, db_default="", default="", max_length=255, verbose_name="exception class"
                    ),
                ),
                ("traceback", models.TextField(blank=True, db_default="", default="", verbose_name="traceback")),
                ("will_retry", models.BooleanField(db_default=False, default=False, verbose_name="will be retried")),
                (
                    "task",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="attempts",
                        to="horsies.task",
                        verbose_name="task",
                    ),
                ),
                (
                    "worker",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="attempts",
                        to="horsies.worker",
                        verbose_name="worker",
                    ),
                ),
            ],
            options={
                "verbose_name": "attempt",
                "verbose_name_plural": "attempts",
                "db_table": "horsies_task_attempts",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("outcome__in", ["COMPLETED", "FAILED", "CRASHED", "TIMED_OUT", "CANCELLED", "REJECTED"])
                        ),
                        name="horsies_attempt_outcome",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("outcome", "COMPLETED"), _negated=True),
                            models.Q(("error_code", ""), ("will_retry", False)),
                            _connector="OR",
                        ),
                        name="horsies_attempt_completed",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("outcome", "REJECTED"), _negated=True),
                        fields=("task", "claim_generation"),
                        name="horsies_attempt_one_outcome_a_claim",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Heartbeat",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("sender_id", models.CharField(max_length=255, verbose_name="sender")),
                (
                    "role",
                    models.CharField(
                        choices=[("claimer", "Claimer"), ("runner", "Runner")], max_length=16, verbose_name="role"
                    ),
                ),
                (
                    "sent_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), verbose_name="sent at"),
                ),
                (
                    "hostname",
                    models.CharField(blank=True, db_default="", default="", max_length=255, verbose_name="host"),
                ),
                ("pid", models.PositiveIntegerField(blank=True, null=True, verbose_name="process id")),
                (
                    "claim_generation",
                    models.PositiveIntegerField(db_default=0, default=0, verbose_name="claim generation"),
                ),
                (
                    "task",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="heartbeats",
                        to="horsies.task",
                        verbose_name="task",
                    ),
                ),
            ],
            options={
                "verbose_name": "heartbeat",
                "verbose_name_plural": "heartbeats",
                "db_table": "horsies_heartbeats",
                "indexes": [
                    models.Index(
                        models.F("task"),
                        models.F("claim_generation"),
                        models.F("role"),
                        models.F("sent_at"),
                        name="horsies_heartbeat_newest",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["claimer", "runner"])), name="horsies_heartbeat_role"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="RecoveryReport",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=horsies_django.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "trigger",
                    models.CharField(
                        choices=[
                            ("startup", "Start-up"),
                            ("periodic", "Periodic"),
                            ("manual", "Manual"),
                            ("admin", "Admin"),
                        ],
                        max_length=16,
                        verbose_name="trigger",
                    ),
                ),
                ("actor", models.CharField(default="system/recovery", max_length=255, verbose_name="actor")),
                ("dry_run", models.BooleanField(default=False, verbose_name="dry run")),
                (
                    "started_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), verbose_name="started at"
                    ),
                ),
                ("completed_at", models.DateTimeField(blank=True, null=True, verbose_name="completed at")),
                ("duration_ms", models.PositiveBigIntegerField(blank=True, null=True, verbose_name="duration (ms)")),
                ("integrity_passed", models.BooleanField(blank=True, null=True, verbose_name="integrity passed")),
                ("integrity", models.JSONField(blank=True, default=dict, verbose_name="integrity")),
                (
                    "wal_frames_checkpointed",
                    models.PositiveIntegerField(default=0, verbose_name="WAL frames checkpointed"),
                ),
                ("orphans_found", models.PositiveIntegerField(default=0, verbose_name="orphans found")),
                ("recovered", models.PositiveIntegerField(default=0, verbose_name="recovered")),
                ("failed_recoveries", models.PositiveIntegerField(default=0, verbose_name="failed recoveries")),
                ("dead_workers", models.JSONField(blank=True, default=list, verbose_name="dead workers")),
                ("workflows_recovered", models.PositiveIntegerField(default=0, verbose_name="workflows recovered")),
                ("pruned", models.JSONField(blank=True, default=dict, verbose_name="pruned")),
                ("notes", models.JSONField(blank=True, default=list, verbose_name="notes")),
            ],
            options={
                "verbose_name": "recovery report",
                "verbose_name_plural": "recovery reports",
                "db_table": "horsies_recovery_reports",
                "get_latest_by": "started_at",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("trigger__in", ["startup", "periodic", "manual", "admin"])),
                        name="horsies_report_trigger",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="RecoveredTask",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "action",
                    models.CharField(
                        choices=[
                            ("requeue", "Requeue"),
                            ("retry", "Retry"),
                            ("fail", "Fail"),
                            ("pending", "Back to pending"),
                        ],
                        max_length=16,
                        verbose_name="action",
                    ),
                ),
                ("reason", models.TextField(blank=True, default="", verbose_name="reason")),
                ("evidence", models.JSONField(blank=True, default=dict, verbose_name="evidence")),
                ("attempt_count", models.PositiveIntegerField(default=0, verbose_name="attempts")),
                ("max_attempts", models.PositiveIntegerField(default=0, verbose_name="attempts allowed")),
                ("success", models.BooleanField(default=True, verbose_name="success")),
                ("error", models.TextField(blank=True, default="", verbose_name="error")),
                ("actor", models.CharField(default="system/recovery", max_length=255, verbose_name="actor")),
                (
                    "recovered_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), verbose_name="recovered at"
                    ),
                ),
                (
                    "report",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tasks",
                        to="horsies.recoveryreport",
                        verbose_name="report",
                    ),
                ),
                (
                    "task",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="recoveries",
                        to="horsies.task",
                        verbose_name="task",
                    ),
                ),
                (
                    "previous_worker",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="horsies.worker",
                        verbose_name="previous worker",
                    ),
                ),
            ],
            options={
                "verbose_name": "recovered task",
                "verbose_name_plural": "recovered tasks",
                "db_table": "horsies_recovered_tasks",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("action__in", ["requeue", "retry", "fail", "pending"])),
                        name="horsies_recovered_action",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("success", False), _negated=True),
                            models.Q(("error", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="horsies_recovered_failure_explained",
                    ),
                ],
            },
        ),
    ]
