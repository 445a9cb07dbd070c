"""A graph compiled with a SQLite saver of its own, in another file."""

import os
import sqlite3

from langgraph.checkpoint.sqlite import SqliteSaver

from letters import builder

graph = builder.compile(checkpointer=SqliteSaver(sqlite3.connect(os.environ["OWN_STORE"], check_same_thread=False)))
