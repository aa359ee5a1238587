"""The router for a queue outside the default database."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import connections, router
from django.test import override_settings

from horsies_django.models import Task


def test_the_tables_of_horsies_and_no_others_are_routed(monkeypatch):
    monkeypatch.setattr(connections, "settings", connections.settings | {"queue": {}})
    routers = ["horsies_django.routers.HorsiesRouter"]
    with override_settings(DATABASE_ROUTERS=routers, HORSIES={"DATABASE": "queue"}):
        assert (router.db_for_read(Task), router.db_for_write(Task)) == ("queue", "queue")
        assert (router.db_for_read(User), router.db_for_write(User)) == ("default", "default")
        assert router.allow_migrate("queue", "horsies")
        assert not router.allow_migrate("default", "horsies")
        assert router.allow_migrate("default", "auth")
        assert not router.allow_migrate("queue", "auth")
        assert router.allow_relation(Task(), Task())


def test_with_the_queue_in_the_default_database_nothing_changes():
    with override_settings(DATABASE_ROUTERS=["horsies_django.routers.HorsiesRouter"]):
        assert router.allow_migrate("default", "auth")
        assert router.allow_migrate("default", "horsies")
