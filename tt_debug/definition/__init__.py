"""Workflow definitions as data: read, checked, compared between versions. Running one is `engine`'s."""
