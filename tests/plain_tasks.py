"""A task type that needs no models."""

from horsies_django import task


@task
def noop() -> None: ...
