"""LangGraph's encryption of a (type, bytes) pair: AES in EAX mode (langgraph-checkpoint 4.x serde/encrypted.py).

Owns opening and closing one pair under a key; refuses to look for a key or to keep one.
"""

from __future__ import annotations

from typing import Any, Final

from stores.errors import Corrupt, Invalid, Unsupported

KEY_VARIABLE: Final = "LANGGRAPH_AES_KEY"
_SUFFIX: Final = "+aes"
_SIZES: Final = (16, 24, 32)
_NONCE: Final = 16
_TAG: Final = 16


def is_sealed(kind: str | None) -> bool:
    """Whether a pair of this type is encrypted, by whatever cipher."""
    return kind is not None and "+" in kind


class Seal:
    """One key. Its bytes are in no text of it and in no error."""

    def __init__(self, key: str) -> None:
        """Raises Invalid for a key of another size than AES has, Unsupported without pycryptodome."""
        self._key = key.encode()
        if len(self._key) not in _SIZES:
            raise Invalid(f"{KEY_VARIABLE} has {len(self._key)} bytes: a key has 16, 24 or 32")
        self._aes: Any = _load()

    def open(self, kind: str, data: bytes) -> tuple[str, bytes]:
        """The pair inside. Raises Corrupt for another key, another cipher, or damaged bytes."""
        nonce, tag, text = data[:_NONCE], data[_NONCE : _NONCE + _TAG], data[_NONCE + _TAG :]
        if not kind.endswith(_SUFFIX) or len(tag) != _TAG:
            raise Corrupt(f"{kind} is no encryption by AES")
        try:
            return kind.removesuffix(_SUFFIX), self._cipher(nonce).decrypt_and_verify(text, tag)
        except ValueError as error:
            raise Corrupt("encrypted with another key, or damaged") from error

    def close(self, kind: str, data: bytes) -> tuple[str, bytes]:
        """The pair encrypted, as LangGraph reads it."""
        cipher = self._cipher(None)
        text, tag = cipher.encrypt_and_digest(data)
        return kind + _SUFFIX, cipher.nonce + tag + text

    def _cipher(self, nonce: bytes | None) -> Any:
        more = {} if nonce is None else {"nonce": nonce}
        return self._aes.new(self._key, self._aes.MODE_EAX, **more)


def _load() -> Any:
    try:
        from Crypto.Cipher import AES  # 95 ms, and only there with the extra "crypto"
    except ImportError as error:
        raise Unsupported(
            "encrypted values can only be read with pycryptodome", hint="pip install 'tt-debug[crypto]'"
        ) from error
    return AES
