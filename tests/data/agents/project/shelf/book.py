"""Found through the dependencies of langgraph.json."""

TITLE = "A book"
