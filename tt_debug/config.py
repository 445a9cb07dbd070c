"""The user's configuration file: ``tt-debug/config.toml`` under the XDG configuration folder, read and never written.

Owns finding and reading it; what a setting means is the business of whoever asks for it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from stores.model import Value
from stores.places import config_folder
from tt_debug import redaction
from tt_debug.errors import UsageError
from tt_debug.usage import Prices, read_prices


def config_file() -> Path:
    """Where it is, or would be."""
    return config_folder() / "config.toml"


def settings(file: Path | None = None) -> Mapping[str, Value]:
    """What the file says; nothing where there is none. Raises UsageError, naming the file, when it cannot be read."""
    path = file or config_file()
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", hint="mend it, or move it away") from error
    import tomllib  # 12 ms, only where there is such a file

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: {error}", hint="mend it, or move it away") from error


def hiding(environ: Mapping[str, str] = os.environ, file: Path | None = None) -> redaction.Redaction:
    """Which names are secret: the usual ones, as ``redact`` in the file and then ``TT_DEBUG_REDACT`` change them.

    ``redact = ["national_id", "-card"]``, or ``redact = false``. Raises UsageError.
    """
    said = settings(file).get("redact", [])
    words = ["off"] if said is False else [] if said is True else said
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise UsageError(
            f"{file or config_file()}: redact is {said!r}", hint='write redact = ["national_id", "-card"] or false'
        )
    names = redaction.chosen([*words, *redaction.split_words(environ.get("TT_DEBUG_REDACT", ""))])
    return redaction.Redaction(names)


def prices(file: Path | None = None) -> Prices:
    """What model calls cost, as far as the user has written it down. Raises UsageError."""
    return read_prices(settings(file), str(file or config_file()))
