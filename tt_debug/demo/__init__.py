"""A deterministic, offline example of everything: a native store and one written by LangGraph."""
