from django.db.backends.sqlite3.base import DatabaseWrapper

__all__ = ["DatabaseWrapper"]
