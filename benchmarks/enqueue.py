"""What `enqueue()` and `enqueue_many()` cost beside Django's own `create()` and `bulk_create()`.

    python -m benchmarks.enqueue [--database sqlite|postgres] [--rounds 7]

Each round times all four, in turn and on the same connection, so that the ratio is one of like with like
on a noisy machine. The rows of `create()` are of a plain twin of our table: the same columns and values, but
no constraints, no index but the primary key, and no defaults that the database has to fill in.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from benchmarks.database import fresh_database

LIMITS = {"enqueue / create": 1.3, "enqueue_many / bulk_create": 1.2}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", choices=["sqlite", "postgres"], help="one of them only")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--tasks", type=int, default=500, help="single enqueues a round")
    parser.add_argument("--many", type=int, default=10_000, help="tasks in bulk a round")
    options = parser.parse_args()
    if options.database is None:
        # Django is set up once a process, so each database gets one of its own.
        return max(
            subprocess.run([sys.executable, "-m", "benchmarks.enqueue", *sys.argv[1:], "--database", name]).returncode
            for name in ("sqlite", "postgres")
        )
    with fresh_database(options.database) as described:
        print(f"\n{described}, medians of {options.rounds} rounds (lowest to highest)")
        return measure(options)


def plain_twin():
    """Return a model with the columns of Task and nothing else, and create its table."""
    from django.db import connection, models
    from django.utils import timezone

    from horsies_django.models import Task

    columns = {field.name: field.clone() for field in Task._meta.local_fields}
    columns["worker"] = models.UUIDField(null=True, db_column="worker_id")
    columns["enqueued_at"] = models.DateTimeField(default=timezone.now)
    for column in columns.values():
        column.db_default = models.NOT_PROVIDED
    meta = type("Meta", (), {"app_label": "demo", "db_table": "plain_twin"})
    twin = type("PlainTwin", (models.Model,), {**columns, "Meta": meta, "__module__": __name__})
    with connection.schema_editor() as editor:
        editor.create_model(twin)
    return twin


def measure(options: argparse.Namespace) -> int:
    from horsies_django import enqueue_many
    from horsies_django.models import Task
    from testproject.demo.tasks import send_receipt

    twin = plain_twin()

    name = send_receipt.module_path
    many = [((number,), {"email": "customer@example.com"}) for number in range(options.many)]
    shared = {"name": name, "queue_name": "mail", "max_retries": 5, "retry_policy": send_receipt.retry.as_json()}

    def enqueue() -> None:
        for number in range(options.tasks):
            send_receipt.enqueue(number, email="customer@example.com")

    def create() -> None:
        for number in range(options.tasks):
            twin.objects.create(args=[number], kwargs={"email": "customer@example.com"}, **shared)

    def bulk_create() -> None:
        twin.objects.bulk_create(twin(args=list(args), kwargs=kwargs, **shared) for args, kwargs in many)

    seconds: dict[str, list[float]] = {"create": [], "enqueue": [], "bulk_create": [], "enqueue_many": []}
    actions = {
        "create": create,
        "enqueue": enqueue,
        "bulk_create": bulk_create,
        "enqueue_many": lambda: enqueue_many(send_receipt, many),
    }
    for _ in range(options.rounds):
        for label, action in actions.items():
            seconds[label].append(timed(action))
            for model in (Task, twin):
                model.objects.all()._raw_delete("default")
    return report(seconds, {"create": options.tasks, "enqueue": options.tasks}, options.many)


def timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def report(seconds: dict[str, list[float]], counts: dict[str, int], many: int) -> int:
    for label, times in seconds.items():
        count = counts.get(label, many)
        rates = sorted(count / one for one in times)
        print(f"  {label:13} {statistics.median(rates):10,.0f} tasks/s   ({rates[0]:,.0f} to {rates[-1]:,.0f})")
    failed = 0
    for pair, limit in LIMITS.items():
        ours, theirs = pair.split(" / ")
        ratios = sorted(a / b for a, b in zip(seconds[ours], seconds[theirs], strict=True))
        ratio = statistics.median(ratios)
        verdict = "ok" if ratio <= limit else "TOO SLOW"
        failed += ratio > limit
        print(f"  {pair:28} {ratio:.2f} of the time ({ratios[0]:.2f} to {ratios[-1]:.2f}), at most {limit}: {verdict}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
