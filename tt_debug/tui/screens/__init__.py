"""Screens hold the session and turn its answers into values for widgets."""
