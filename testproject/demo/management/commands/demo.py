"""Shows what horsies does so far, on the database of the test project."""

from __future__ import annotations

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import transaction

from horsies_django import enqueue_many, testing
from horsies_django.models import Task
from testproject.demo import tasks


class Command(BaseCommand):
    help = "Migrate, enqueue some sample tasks, run them in this process, and show how each ended."

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("migrate", verbosity=0)
        Task.objects.filter(name__startswith=tasks.__name__).delete()
        self._say("Enqueued in a transaction that was rolled back", self._rolled_back())
        self._say("Enqueued twice with one unique key", self._unique())
        self._say("Enqueued 1,000 at once", self._many())
        self._say("Enqueued one of each kind", self._one_of_each())
        self.stdout.write("\nRunning them, the most urgent first (and 1,000 times count_primes):\n")
        for result in testing.drain(limit=10_000):
            if result.task.module_path != tasks.count_primes.module_path:
                self.stdout.write(f"  {result.task.name:22} {result.status:10} {self._outcome(result)}")
        self._say("\nFailed and waiting for their next attempt", Task.objects.open().count())

    def _say(self, what: str, count: int) -> None:
        self.stdout.write(f"{what}: {count:,} task{'' if count == 1 else 's'} in the database")

    def _rolled_back(self) -> int:
        with transaction.atomic():
            result = tasks.send_receipt.enqueue(1)
            transaction.set_rollback(True)
        return Task.objects.filter(pk=result.id).count()

    def _unique(self) -> int:
        nightly = tasks.send_receipt.using(unique_key="nightly")
        return len({nightly.enqueue(2).id, nightly.enqueue(2).id})

    def _many(self) -> int:
        return len(enqueue_many(tasks.count_primes, [((number,), {}) for number in range(1_000)]))

    def _one_of_each(self) -> int:
        results = [
            tasks.send_receipt.using(priority=10).enqueue(3),
            tasks.sleep_slowly.enqueue(seconds=0.2),
            tasks.fail_sometimes.enqueue(1),
            tasks.greet_asynchronously.enqueue("world"),
        ]
        return len(results)

    def _outcome(self, result: Any) -> str:
        return repr(result.return_value) if result.status == "SUCCESSFUL" else result.errors[-1].exception_class_path
