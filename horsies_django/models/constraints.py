"""Constraints in the words of the house."""

from __future__ import annotations

from django.db.models import CheckConstraint, Q, TextChoices


def known_choice(name: str, field: str, choices: type[TextChoices]) -> CheckConstraint:
    """The field holds one of the choices."""
    return CheckConstraint(name=name, condition=Q(**{f"{field}__in": choices.values}))


def implies(name: str, when: Q, then: Q) -> CheckConstraint:
    """Where `when` holds, `then` holds too."""
    return CheckConstraint(name=name, condition=~when | then)
