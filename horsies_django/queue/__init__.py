"""The arrows of the state diagram, one verb a file."""
