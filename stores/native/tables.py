"""The tables of the native schema, as they are made: what `stores.native.schema` creates and migrates to.

Owns names, columns and indexes; refuses to know when a table came to be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Table:
    """One table as it is made: columns in order, keys, what may not be null, references and indexes by name."""

    name: str
    columns: Mapping[str, type]
    pk: tuple[str, ...]
    not_null: str = ""
    defaults: Mapping[str, str | int] = field(default_factory=dict)
    references: tuple[tuple[str, str, str], ...] = ()
    indexes: tuple[tuple[str, str], ...] = ()
    unique: tuple[tuple[str, str], ...] = ()


META: Final = Table("meta", {"key": str, "value": str}, ("key",), "key value")

THREADS: Final = Table(
    "threads",
    {
        "thread_id": str,
        "forked_from_thread": str,
        "forked_from": str,
        "head": str,
        "business_id": str,
        "title": str,
        "labels": str,
        "protected": int,
        "created_at": int,
        "archived_at": int,
    },
    ("thread_id",),
    "thread_id protected created_at",
    {"protected": 0},
)

CHECKPOINTS: Final = Table(
    "checkpoints",
    {
        # The order of insertion: a parent is always before its child, whatever their ids say.
        "seq": int,
        "thread_id": str,
        "checkpoint_id": str,
        "parent_id": str,
        "parent_thread": str,  # null: the same thread
        "step": int,
        "source": str,  # input | step | substep | suspend | answer | edit | fork | migrate | import | cancel
        "nodes": str,
        "visit": int,
        "next": str,
        "status": str,
        "run_id": str,
        "token": int,
        "commit_id": str,
        "workflow_hash": str,
        "checksum": str,
        "size": int,
        "created_at": int,
        "meta": str,
        "state": str,  # last, so that the columns before it are read without walking past it
    },
    ("seq",),
    "thread_id checkpoint_id step source nodes next status checksum size created_at meta state",
    references=(("thread_id", "threads", "thread_id"),),
    indexes=(
        ("checkpoints_by_parent", "parent_id thread_id parent_thread source"),
        # Covers all that a header needs: a listing never touches the pages that hold states.
        (
            "checkpoints_headers",
            "thread_id seq checkpoint_id parent_id parent_thread step source nodes visit next status"
            " run_id workflow_hash size created_at meta",
        ),
    ),
    unique=(("checkpoints_by_id", "thread_id checkpoint_id"), ("checkpoints_by_commit", "commit_id")),
)

DEFINITIONS: Final = Table(
    "definitions",
    {
        "hash": str,
        "workflow_id": str,
        "version": str,
        "body": str,
        "origin": str,
        "code_fingerprint": str,
        "state_schema": str,
        "compatible_with": str,
        "created_at": int,
        "retired_at": int,
    },
    ("hash",),
    "hash workflow_id version body",
    unique=(("definitions_by_version", "workflow_id version"),),
)

RUNS: Final = Table(
    "runs",
    {
        "run_id": str,
        "thread_id": str,
        "workflow_hash": str,
        "business_id": str,
        "mode": str,  # live | recorded | verify
        "status": str,
        "hold_reason": str,
        "base": str,
        "head": str,
        "until": str,
        "requested": str,  # pause | cancel, of a running owner
        "owner": str,
        "owner_pid": int,
        "boot_id": str,
        "token": int,
        "lease_until": int,
        "beat_at": int,
        "recoveries": int,
        "available_at": int,
        "traceparent": str,
        "error": str,
        "created_at": int,
        "started_at": int,
        "ended_at": int,
    },
    ("run_id",),
    "run_id thread_id workflow_hash mode status token recoveries created_at",
    {"mode": "live", "status": "pending", "token": 0, "recoveries": 0},
    references=(("thread_id", "threads", "thread_id"), ("workflow_hash", "definitions", "hash")),
    indexes=(("runs_by_thread", "thread_id created_at"),),
)

STEPS: Final = Table(
    "steps",
    {
        "run_id": str,
        "ordinal": int,
        "substep": str,
        "attempt": int,
        "node": str,
        "visit": int,
        "token": int,
        "status": str,  # running | completed | failed | abandoned | skipped
        "thread_id": str,
        "base": str,  # the checkpoint it started from
        "checkpoint_id": str,  # the checkpoint it ended at
        "input_hash": str,
        "output_hash": str,
        "input": str,
        "output": str,
        "started_at": int,
        "ended_at": int,
        "error_class": str,
        "retryable": int,
        "error": str,
        "next_attempt_at": int,
        "log": str,
        "span_id": str,
    },
    ("run_id", "ordinal", "substep", "attempt"),
    "run_id ordinal substep attempt node visit token status",
    {"substep": "", "visit": 1},
    references=(("run_id", "runs", "run_id"),),
    indexes=(("steps_by_checkpoint", "thread_id checkpoint_id"), ("steps_by_base", "thread_id base")),
)

INBOX: Final = Table(
    "inbox",
    {
        "id": str,
        "kind": str,  # approval | question | unknown_effect | effect_conflict | version | checksum | recovery_limit
        "run_id": str,
        "thread_id": str,
        "checkpoint_id": str,
        "node": str,
        "prompt": str,
        "response_schema": str,
        "status": str,  # open | answered | expired | withdrawn
        "due_at": int,
        "on_timeout": str,
        "answer": str,
        "answered_by": str,
        "answered_at": int,
        "created_at": int,
    },
    ("id",),
    "id kind thread_id status created_at",
    {"kind": "approval", "status": "open"},
    indexes=(("inbox_by_thread", "thread_id status"),),
)

EVENTS: Final = Table(
    "events",
    {"id": int, "at": int, "run_id": str, "thread_id": str, "kind": str, "data": str},
    ("id",),
    "at kind",
)

PAST_TASKS: Final = Table(
    "past_tasks",
    # Tasks as a runtime elsewhere told of them, for checkpoints that were imported: no step of ours says it again.
    {"thread_id": str, "checkpoint_id": str, "tasks": str},
    ("thread_id", "checkpoint_id"),
    "thread_id checkpoint_id tasks",
)

EFFECTS: Final = Table(
    "effects",
    {
        "seq": int,  # the order in which they were begun
        "key": str,
        "slot": str,  # the key of the place; further requests there have keys of their own
        "workflow_id": str,
        "node": str,
        "business_id": str,
        "visit": int,
        "name": str,
        "call_no": int,
        "class": str,  # repeatable | idempotent | probe | transactional | at_most_once
        "status": str,  # planned | intent | done | failed | skipped | unknown | conflict
        "request": str,
        "request_hash": str,
        "result": str,
        "error": str,
        "thread_id": str,
        "run_id": str,
        "token": int,
        "asked": str,  # the question that is open on it
        "created_at": int,
        "done_at": int,
        "replays": int,
    },
    ("seq",),
    "key slot workflow_id node business_id visit name call_no class status request_hash run_id token created_at"
    " replays",
    {"replays": 0},
    indexes=(("effects_by_slot", "slot seq"), ("effects_by_question", "asked")),
    unique=(("effects_by_key", "key"),),
)

EFFECT_USES: Final = Table(
    "effect_uses",
    # Every time that a node came to an effect, in order: called, or given what is on record.
    {"run_id": str, "ordinal": int, "attempt": int, "seq": int, "key": str, "called": int, "at": int},
    ("run_id", "ordinal", "attempt", "seq"),
    "run_id ordinal attempt seq key called at",
    references=(("run_id", "runs", "run_id"),),
)

BREAKPOINTS: Final = Table(
    "breakpoints",
    {
        "id": str,
        "place": str,  # before | after | error | effect
        "node": str,  # null: every node
        "name": str,  # of an effect; null: every one
        "condition": str,
        "thread_id": str,  # null: every thread
        "hits": int,
        "created_by": str,
        "created_at": int,
    },
    ("id",),
    "id place hits created_at",
    {"hits": 0},
)

EVENT_INDEXES: Final = {"events_by_run": "run_id kind id", "events_by_thread": "thread_id kind id"}

ONE_ACTIVE_RUN: Final = (
    "CREATE UNIQUE INDEX runs_one_active ON runs (thread_id)"
    " WHERE status IN ('pending', 'running', 'waiting_human', 'paused', 'crashed')"
)

CHUNKS: Final = Table(
    "chunks",
    # What states are made of, and refer to: compressed with zstd, under the first 20 bytes of the SHA-256 of a chunk's
    # text, or all 32 of a binary value's.
    {"hash": bytes, "data": bytes},
    ("hash",),
    "hash data",
)

OURS: Final = frozenset(
    table.name
    for table in (
        META, THREADS, CHECKPOINTS, DEFINITIONS, RUNS, STEPS, INBOX, EVENTS, PAST_TASKS, EFFECTS, EFFECT_USES,
        BREAKPOINTS, CHUNKS,
    )
)  # fmt: skip
"""The tables that no business statement may write to."""
