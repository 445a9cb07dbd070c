"""What a URL of a store tells by itself: whether it is PostgreSQL's, and how it may be shown.

Owns patterns of text; opens nothing and imports no driver.
"""

from __future__ import annotations

import re
from typing import Final

POSTGRES_URL: Final = re.compile(r"postgres(?:ql)?(?:\+\w+)?://(.*)", re.IGNORECASE | re.DOTALL)
_KEYWORDS: Final = re.compile(r"\s*(?:service|host|hostaddr|port|dbname|user)\s*=", re.IGNORECASE)


def is_postgres(url: str) -> bool:
    """Whether it is a PostgreSQL URL or a connection string such as ``service=prod`` or ``host=… dbname=…``."""
    return POSTGRES_URL.match(url) is not None or _KEYWORDS.match(url) is not None


def mask_password(url: str) -> str:
    """The URL or connection string as it may be shown: every password in it is ``***``."""
    # Greedy: an "@" in the password must not end it, and too much hidden does no harm. One slash is a mistyped two.
    masked = re.sub(r"(\w:/{1,2}[^/@:\s]*):\S*@", r"\1:***@", url)
    masked = re.sub(r"([?&](?:password|sslpassword)=)[^&\s]*", r"\1***", masked, flags=re.IGNORECASE)
    return masked if "://" in url else mask_keywords(masked)


def mask_keywords(text: str) -> str:
    """A text with libpq's ``password=…`` in it as it may be shown."""
    # What is masked already stays as it is: the shell's own quote may stand behind it.
    keyword = r"""(\b(?:password|sslpassword)\s*=\s*)(?!\*\*\*)('(?:[^'\\]|\\.|'')*'|[^\s&]+)"""
    return re.sub(keyword, r"\1***", text, flags=re.IGNORECASE)
