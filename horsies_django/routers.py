"""A database router for projects whose queue is not in the default database."""

from __future__ import annotations

from typing import Any

from django.db import DEFAULT_DB_ALIAS

from .conf import get_config


class HorsiesRouter:
    """Keeps the tables of horsies, and nothing else, in HORSIES['DATABASE']."""

    app_label = "horsies"

    def db_for_read(self, model: Any, **hints: Any) -> str | None:
        return get_config().database if model._meta.app_label == self.app_label else None

    db_for_write = db_for_read

    def allow_relation(self, obj1: Any, obj2: Any, **hints: Any) -> bool | None:
        return True if obj1._meta.app_label == obj2._meta.app_label == self.app_label else None

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool | None:
        queue = get_config().database
        if app_label == self.app_label:
            return db == queue
        return False if db == queue != DEFAULT_DB_ALIAS else None
