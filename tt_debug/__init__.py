"""tt-debug: a time-travel debugger for checkpoint graphs, in the terminal."""

__version__ = "0.1.0"
