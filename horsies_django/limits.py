"""How long things may be, so that the error is ours and not the database's."""

MAX_NAME_LENGTH = 255
MAX_QUEUE_NAME_LENGTH = 100
MAX_UNIQUE_KEY_LENGTH = 200
MAX_MESSAGE_LENGTH = 10_000
MAX_TRACEBACK_LENGTH = 100_000
MAX_TIMEOUT_SECONDS = 30 * 24 * 60 * 60
