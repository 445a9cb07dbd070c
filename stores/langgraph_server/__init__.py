"""A LangGraph server (`langgraph dev`, or a deployment) as a store, through its HTTP interface."""
