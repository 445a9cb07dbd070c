"""Where a LangGraph server is: ``langgraph+http://host:port`` or ``langgraph+https://…``.

Owns the URL, its password and the API key, none of which may be shown; refuses to connect.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from stores.errors import Unsupported

SCHEMES: Final = ("langgraph+http", "langgraph+https")
# In the order in which langgraph_sdk's own clients look (langgraph_sdk/_shared/utilities.py).
KEY_VARIABLES: Final = ("LANGGRAPH_API_KEY", "LANGSMITH_API_KEY", "LANGCHAIN_API_KEY")


@dataclass(frozen=True, slots=True)
class Address:
    """``url`` is the server's, with whatever password it has; ``shown`` is what a person typed, without it."""

    url: str = field(repr=False)
    shown: str
    store_id: str
    key: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, url: str) -> Address | None:
        """The address in a URL; None for a URL of another scheme. Raises Unsupported for one without a host."""
        scheme, _, rest = url.partition("://")
        if scheme.lower() not in SCHEMES:
            return None
        try:
            parts = urlsplit(f"{scheme.lower().removeprefix('langgraph+')}://{rest}")
            host, port = parts.hostname, parts.port
        except ValueError:
            host, port = None, None
        if not host or parts.query or parts.fragment:
            raise Unsupported(
                "this is no address of a LangGraph server",
                hint="Write langgraph+http://host:port and nothing after it.",
            )
        place = f"{f'[{host}]' if ':' in host else host}{'' if port is None else f':{port}'}"
        path = parts.path.rstrip("/")
        plain = urlunsplit((parts.scheme, place, path, "", ""))
        # With credentials or without, by whatever key: it is the same server.
        store_id = hashlib.sha256(plain.encode()).hexdigest()[:16]
        user = "" if parts.username is None else f"{parts.username}{'' if parts.password is None else ':***'}@"
        key = next((found for name in KEY_VARIABLES if (found := os.environ.get(name, "").strip(" \"'"))), None)
        return cls(
            url=urlunsplit((parts.scheme, parts.netloc, path, "", "")),
            shown=f"langgraph+{urlunsplit((parts.scheme, f'{user}{place}', path, '', ''))}",
            store_id=store_id,
            key=key,
        )
