"""Dialogs ask one thing and return a value."""
