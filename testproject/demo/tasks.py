"""Sample tasks: one of each kind that a queue has to cope with."""

import math
import os
import random
import signal
import time
from typing import Any

from django.core.mail import send_mail

from horsies_django import RetryPolicy, task


@task(queue_name="mail", retry=RetryPolicy.exponential(base_seconds=10, max_retries=5))
def send_receipt(order_id: int, email: str = "customer@example.com") -> str:
    """Send an e-mail, as most tasks in the world do."""
    send_mail(f"Receipt for order {order_id}", "Thank you!", "shop@example.com", [email])
    return f"sent to {email}"


@task(takes_context=True)
def sleep_slowly(context: Any, seconds: float = 10, steps: int = 10) -> float:
    """Take long, tell how far it is, and stop when asked to."""
    for step in range(steps):
        if context.is_cancelled():
            break
        context.set_progress(step / steps, f"step {step + 1} of {steps}")
        time.sleep(seconds / steps)
    return seconds


@task
def count_primes(limit: int = 200_000) -> int:
    """Keep a core busy."""
    return sum(all(n % d for d in range(2, math.isqrt(n) + 1)) for n in range(2, limit))


@task(max_attempts=4, backoff=1)
def fail_sometimes(chance: float = 0.5) -> str:
    """Fail as often as not, and be tried again."""
    if random.random() < chance:
        raise ConnectionError("the other side hung up")
    return "worked this time"


@task
def kill_own_process(signal_number: int = signal.SIGKILL) -> None:
    """Die in the middle of the work, as if the kernel had run out of memory."""
    os.kill(os.getpid(), signal_number)


@task
async def greet_asynchronously(name: str) -> str:
    """Show that coroutines are tasks too."""
    return f"hello {name}"
