"""LangGraph's own tables, read and appended to without LangGraph."""
