"""A package with a graph."""
