"""Widgets get values and post messages."""
