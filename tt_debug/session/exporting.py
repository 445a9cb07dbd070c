"""A thread as lines of JSON, as `export` writes them and `import` reads them: one `show` object a checkpoint.

The head's line says so. The first line of a thread of ours also carries what the executor knows of it: definitions,
runs, questions.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import suppress

from stores.blobs import references
from stores.codec.json import loads
from stores.effects import EffectUse
from stores.errors import Corrupt, NotFound
from stores.model import Header, Ref, ThreadInfo, Value
from stores.protocol import RunStore, Store
from stores.runs import Approval, Definition, Run
from tt_debug.session.definitions import ADOPTED
from tt_debug.session.owners import loaded
from tt_debug.session.records import Form, Pen, Record, log_record, show_record, timestamp
from tt_debug.session.thread_view import ThreadView, parents_first


def lines_of(store: Store, view: ThreadView, info: ThreadInfo | None, form: Form) -> Iterator[Mapping[str, Value]]:
    """The view's own thread, oldest first and no row before its parent, all namespaces.

    A checkpoint that cannot be read is its `log` object with the ``problem``, and no ``state``.
    """
    executor = _executor(store, view, info, form) if isinstance(store, RunStore) else None
    told: set[str] = set()
    for ref in parents_first(view.refs, view.parent):
        if ref.thread != view.thread:
            continue
        record = _line(store, ref, view.headers[ref], form)
        if ref == view.head:
            record["head"] = True
        if executor is not None:
            record |= executor
            executor = None
        if isinstance(store, RunStore) and "redacted" not in record:
            record |= _binaries(store, record, told)
        yield record


def _line(store: Store, ref: Ref, header: Header, form: Form) -> Record:
    try:
        checkpoint = loaded(store, ref)
    except Corrupt as error:
        return log_record(header) | {"problem": header.problem or str(error)}
    return show_record(checkpoint, store.steps(ref=ref) if isinstance(store, RunStore) else (), form)


def _binaries(store: RunStore, record: Record, told: set[str]) -> Record:
    """``{"blobs": {sha256: base64}}`` with the binary values that no line before had; those that are gone are left out,
    and missing where they are imported."""
    found: Record = {}
    for _, digest in references(record):
        if digest not in told:
            told.add(digest)
            with suppress(Corrupt):
                found[digest] = b64encode(store.blob(digest)).decode()
    return {"blobs": found} if found else {}


def _executor(store: RunStore, view: ThreadView, info: ThreadInfo | None, form: Form) -> Record:
    """``{"executor": …}`` with the thread's records, oldest first."""
    pen = Pen(form)
    runs = tuple(reversed(store.runs(view.thread)))
    known: Record = {
        "business_id": None if info is None else info.meta.get("business_id"),
        "definitions": [_definition(found, pen) for found in _definitions(store, view, runs)],
        "runs": [_run(run) for run in runs],
        "approvals": [_approval(asked, pen) for asked in store.approvals(view.thread, status=None)],
        "effects": [_effect(use, pen) for use in store.effects(view.thread)],
    }
    return pen.mark({"executor": known})


def _definitions(store: RunStore, view: ThreadView, runs: tuple[Run, ...]) -> Iterator[Definition]:
    """Those that the thread's runs and checkpoints are bound to, as far as they are there."""
    bound = (header.meta.get(ADOPTED) for ref, header in view.headers.items() if ref.thread == view.thread)
    for hash in dict.fromkeys([*(run.workflow_hash for run in runs), *bound]):
        if isinstance(hash, str):
            with suppress(NotFound):
                yield store.definition(hash)


def _definition(definition: Definition, pen: Pen) -> Record:
    content = loads(definition.body)
    shown = pen.json(content)
    return {
        "hash": definition.hash,
        "workflow_id": definition.workflow_id,
        "version": definition.version,
        # As text: the hash is over exactly these characters.
        "body": definition.body if shown is content else shown,
        "origin": definition.origin,
    }


def _run(run: Run) -> Record:
    return {
        "run": run.run_id,
        "definition": run.workflow_hash,
        "status": run.status,
        "mode": run.mode,
        "business_id": run.business_id,
        "base": run.base.id if run.base else None,
        "head": run.head.id if run.head else None,
        "until": run.until,
        "token": run.token,
        "recoveries": run.recoveries,
        "error": run.error,
        "created": timestamp(run.created),
        "started": timestamp(run.started),
        "ended": timestamp(run.ended),
    }


def _effect(use: EffectUse, pen: Pen) -> Record:
    effect = use.effect
    return {
        "run": use.run_id,
        "ordinal": use.ordinal,
        "attempt": use.attempt,
        "seq": use.seq,
        "called": use.called,
        "at": timestamp(use.at),
        "key": effect.key,
        "slot": list(effect.slot),
        "class": effect.kind,
        "status": effect.status,
        "request": pen.json(effect.request),
        "request_hash": effect.request_hash,
        "result": pen.json(effect.result),
        "error": effect.error,
        "thread": effect.thread,
        "by_run": effect.run_id,
        "created": timestamp(effect.created),
        "done": timestamp(effect.done),
    }


def _approval(asked: Approval, pen: Pen) -> Record:
    return {
        "id": asked.id,
        "kind": asked.kind,
        "run": asked.run_id,
        "checkpoint": asked.checkpoint,
        "node": asked.node,
        "prompt": pen.json(asked.prompt),
        "schema": None if asked.schema is None else dict(asked.schema),
        "status": asked.status,
        "since": timestamp(asked.since),
        "answer": pen.json(asked.answer),
        "answered_by": asked.answered_by,
        "answered": timestamp(asked.answered),
    }
