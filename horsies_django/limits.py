"""How long things may be, so that the error is ours and not the database's."""

MAX_NAME_LENGTH = 255
MAX_QUEUE_NAME_LENGTH = 100
MAX_UNIQUE_KEY_LENGTH = 200
# SQLite checks JSON to a depth of 1,000, Python's recursion ends before that.
MAX_NESTING = 100
MAX_BACKEND_LENGTH = 64
MAX_MESSAGE_LENGTH = 10_000
MAX_TRACEBACK_LENGTH = 100_000
MAX_TIMEOUT_SECONDS = 30 * 24 * 60 * 60
# Far beyond any plan, and well within what both databases and Python can count.
MAX_DAYS_AHEAD = 100 * 365
