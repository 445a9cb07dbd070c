"""A store on a server, as another process opens it again.

Owns the shape; refuses to show what is in it.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class Reopened(Protocol):
    """Opened again by its ``secret_url``, which has its password in it: never to be shown or kept."""

    @property
    def secret_url(self) -> str: ...
