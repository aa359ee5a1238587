"""Run one task and write how it ended."""
