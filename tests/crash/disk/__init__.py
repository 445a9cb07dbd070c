"""A disk that forgets what was not synced, or fails at a chosen write, under the store's own unchanged code.

Python's `sqlite3` cannot be given a file system of one's own; apsw can, and is a second SQLite library, which breaks
the locks of the first in one process. So what runs on such a disk runs in a process of its own, `recorder`, where apsw
stands in for `sqlite3` before anything imports that.
"""
