"""Branches that gave the same version to different values, of which only the first was kept.

LangGraph JS counts versions, on every branch from the same number, and its PostgreSQL saver keeps one value per channel
and version. Owns finding what may show another branch's value; refuses to guess what stood there.
"""

from __future__ import annotations

from collections.abc import Mapping

from stores.langgraph.skeleton import Key, Skeleton

Versions = Mapping[Key, Mapping[str, str]]
"""Channel → version of each checkpoint."""


def suspects(skeleton: Skeleton, versions: Versions) -> dict[Key, tuple[str, ...]]:
    """The channels of each checkpoint whose value another branch stored first under the same version."""
    if not any(len(children) > 1 for children in skeleton.children.values()):
        return {}
    firsts: dict[tuple[str, str, str], Key] = {}
    made_at: dict[Key, dict[str, Key]] = {}
    found: dict[Key, tuple[str, ...]] = {}
    # Parents come first, and what was stored first has the smaller id.
    for key in reversed(skeleton.order):
        parent = skeleton.parent(key)
        before = versions.get(parent, {}) if parent is not None else {}
        inherited = made_at.get(parent, {}) if parent is not None else {}
        made_at[key] = {
            channel: inherited.get(channel, key) if before.get(channel) == version else key
            for channel, version in versions.get(key, {}).items()
        }
        wrong = [
            channel
            for channel, made in made_at[key].items()
            if firsts.setdefault((key.ns, channel, versions[key][channel]), made) != made
        ]
        if wrong:
            found[key] = tuple(sorted(wrong))
    return found
