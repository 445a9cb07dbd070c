"""The native store: the contract, and what is its own."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from stores.conformance import SAMPLE, TRIP, RunStoreConformance, StoreConformance, WriterConformance, sample_ref
from stores.errors import Corrupt, ReadOnly, Unsupported
from stores.model import Change, NewCheckpoint, Ref, Status
from stores.native import schema
from stores.native.sqlite import NativeStore, create_native
from tests.builders import native_file, sql_file


@pytest.fixture
def sample(tmp_path: Path) -> Iterator[NativeStore]:
    with closing(NativeStore(native_file(tmp_path / "native.sqlite"), read_only=False)) as store:
        yield store


@pytest.fixture
def frozen(tmp_path: Path) -> Iterator[NativeStore]:
    with closing(NativeStore(native_file(tmp_path / "native.sqlite"))) as store:
        yield store


class TestNative(StoreConformance, WriterConformance, RunStoreConformance):
    pass
