"""Checkpoint stores: one contract, an adapter for each kind of store.

A library of its own; it knows nothing of the debugger. Names are imported when first used (PEP 562), so that
`import stores` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from stores.errors import StoreError as StoreError
    from stores.making import create_native as create_native
    from stores.model import MISSING as MISSING
    from stores.model import Capability as Capability
    from stores.model import Change as Change
    from stores.model import Checkpoint as Checkpoint
    from stores.model import Diff as Diff
    from stores.model import Header as Header
    from stores.model import Interrupt as Interrupt
    from stores.model import NewCheckpoint as NewCheckpoint
    from stores.model import Opaque as Opaque
    from stores.model import Page as Page
    from stores.model import Partial as Partial
    from stores.model import Ref as Ref
    from stores.model import Status as Status
    from stores.model import StoreInfo as StoreInfo
    from stores.model import Tagged as Tagged
    from stores.model import Task as Task
    from stores.model import ThreadInfo as ThreadInfo
    from stores.model import Write as Write
    from stores.protocol import RunStore as RunStore
    from stores.protocol import Store as Store
    from stores.protocol import Writer as Writer
    from stores.registry import open_store as open_store
    from stores.urls import mask_password as mask_password

_MODEL: Final = (
    "MISSING",
    "Capability",
    "Change",
    "Checkpoint",
    "Diff",
    "Header",
    "Interrupt",
    "NewCheckpoint",
    "Opaque",
    "Page",
    "Partial",
    "Ref",
    "Status",
    "StoreInfo",
    "Tagged",
    "Task",
    "ThreadInfo",
    "Write",
)
_HOME: Final = {
    "open_store": "stores.registry",
    "mask_password": "stores.urls",
    "create_native": "stores.making",
    "StoreError": "stores.errors",
    "Store": "stores.protocol",
    "Writer": "stores.protocol",
    "RunStore": "stores.protocol",
    **dict.fromkeys(_MODEL, "stores.model"),
}

__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
