"""Applying changes to a value: the one meaning of a `stores.model.Change`, for stores, diffs and edits alike."""

from __future__ import annotations
