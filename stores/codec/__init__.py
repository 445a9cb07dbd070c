"""Bytes to values and back, strictly: nothing named in the bytes is imported or called."""
