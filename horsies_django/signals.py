"""What happened, told to whoever connects; the sender is always a class."""

from django.dispatch import Signal

task_claimed = Signal()
task_retried = Signal()
task_recovered = Signal()
task_cancelled = Signal()

recovery_started = Signal()
recovery_completed = Signal()

worker_started = Signal()
worker_stopped = Signal()
worker_dead = Signal()
