"""The command line: the session's use cases as text and JSON."""
