"""A database engine whose name does not tell what it is."""
