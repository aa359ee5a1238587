"""A project to try horsies in. Everything can be set from the environment, or from a file `.env`."""

from pathlib import Path

import django
import environ

from testproject.environment import horsies_from_environment

BASE_DIR = Path(__file__).resolve().parent.parent

env = environ.Env()
env.read_env(BASE_DIR / ".env")

SECRET_KEY = env("SECRET_KEY", default="only-for-the-test-project")
DEBUG = env.bool("DEBUG", default=True)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1"])

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "horsies_django",
    "testproject.demo",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]
ROOT_URLCONF = "testproject.urls"
STATIC_URL = "static/"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# Mail goes nowhere, unless the environment says where.
MAIL_BACKEND = env("MAIL_BACKEND", default="django.core.mail.backends.dummy.EmailBackend")
if django.VERSION >= (6, 1):
    MAILERS = {"default": {"BACKEND": MAIL_BACKEND}}
else:
    EMAIL_BACKEND = MAIL_BACKEND
# Django tells of every task it starts and ends; the demo tells of them in its own words.
LOGGING = {"version": 1, "disable_existing_loggers": False, "loggers": {"django.tasks": {"level": "WARNING"}}}
USE_TZ = True
TIME_ZONE = "UTC"

DATABASES = {"default": env.db_url("DATABASE_URL", default=f"sqlite:///{BASE_DIR / 'testproject.sqlite3'}")}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL",
    }
    # A file, because a database in memory can be neither in WAL mode nor seen by another process.
    DATABASES["default"]["TEST"] = {"NAME": f"{DATABASES['default']['NAME']}-test"}

TASKS = {"default": {"BACKEND": "horsies_django.backend.HorsiesBackend", "QUEUES": []}}
HORSIES = horsies_from_environment(env)
