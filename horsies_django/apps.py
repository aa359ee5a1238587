from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

from .dialects import django_can_connect, missing_driver


class HorsiesConfig(AppConfig):
    name = "horsies_django"
    label = "horsies"
    verbose_name = _("Horsies tasks")
    default_auto_field = "django.db.models.BigAutoField"

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Before any model is loaded: that takes a driver, and Django's word for its absence names no remedy.
        for alias, database in settings.DATABASES.items():
            engine = database.get("ENGINE", "")
            if not django_can_connect(engine):
                raise ImproperlyConfigured(
                    f"The database {alias!r} is PostgreSQL, and its driver is not installed. "
                    f"Run: {missing_driver(engine)}"
                )

    def ready(self) -> None:
        from . import checks

        checks.register()
