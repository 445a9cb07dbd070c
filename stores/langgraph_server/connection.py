"""The requests made of a LangGraph server, through langgraph-sdk: bounded in time, their failures translated.

Owns the client and what a failure means; refuses to know what the answers are made of.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar
from uuid import UUID

from stores.errors import Busy, Conflict, Corrupt, Invalid, NotFound, StoreError, Unreachable, Unsupported
from stores.langgraph_server.address import Address
from stores.model import Ref, Value

if TYPE_CHECKING:
    import httpx
    from langgraph_sdk.client import SyncLangGraphClient
    from langgraph_sdk.schema import ThreadSelectField

T = TypeVar("T")
State = Mapping[str, Any]
"""A ``ThreadState`` as the server writes it."""
Row = Mapping[str, Any]
"""A thread, an assistant or a run as the server writes it."""

CONNECT: Final = 5.0  # seconds
ANSWER: Final = 30.0
# A server sends a sign of life every few seconds of a run; without any for this long the connection is dead.
SILENCE: Final = 300.0
MOST_ROWS: Final = 1000  # the server refuses to list more at once
_LISTED: Final[tuple[ThreadSelectField, ...]] = ("thread_id", "created_at", "updated_at", "metadata", "status")


class Connection:
    """One server. Thread-safe, as httpx's client is; looking is asked for again once when a kept connection died."""

    def __init__(self, address: Address) -> None:
        """Raises Unsupported when langgraph-sdk is not installed. Connects at the first request."""
        self._address = address
        self._httpx, made = _installed()
        headers = {"x-api-key": address.key} if address.key else {}
        # Without the retries of the SDK's own transport, which let a server that is not there cost eight seconds.
        self._http = self._httpx.Client(
            base_url=address.url,
            transport=self._httpx.HTTPTransport(retries=0),
            timeout=self._httpx.Timeout(ANSWER, connect=CONNECT),
            headers=headers,
        )
        self._sdk: SyncLangGraphClient = made(self._http)
        self._is_open = True

    def close(self) -> None:
        """Idempotent; every later request raises Unreachable."""
        self._is_open = False
        self._http.close()

    # --- looking: GETs, and POSTs to paths that only search

    def release(self) -> str:
        """The server's own. Raises Unsupported when what answers there is no LangGraph server."""
        found = self._look(lambda sdk: sdk.http.get("/info"), missing="no LangGraph server answers there")
        if not isinstance(found, Mapping) or "version" not in found:
            raise Unsupported(
                f"what answers at {self._address.shown} is no LangGraph server",
                hint="langgraph dev prints its address as API.",
            )
        return str(found["version"])

    def count_threads(self) -> int:
        """How many there are."""
        return int(self._look(lambda sdk: sdk.threads.count()))

    def threads(self, offset: int, limit: int) -> Sequence[Row]:
        """Latest change first, without their values."""
        found: Sequence[Row] = self._look(
            lambda sdk: sdk.threads.search(
                limit=limit,
                offset=offset,
                sort_by="updated_at",
                sort_order="desc",
                select=[*_LISTED],
            )
        )
        return found

    def thread(self, thread: str) -> Row:
        """Raises NotFound."""
        found: Row = self._look(lambda sdk: sdk.threads.get(_named(thread)), missing=_no_thread(thread))
        return found

    def history(self, thread: str, ns: str = "", before: str | None = None, limit: int = MOST_ROWS) -> Sequence[State]:
        """Checkpoints of one namespace, newest first, from the one after ``before``. Raises NotFound."""
        asked: dict[str, Any] = {"limit": limit, "checkpoint": {"checkpoint_ns": ns}}
        if before is not None:
            # Twice: the interface wants a checkpoint, and the in-memory server (langgraph-runtime-inmem 0.36) hands
            # what it is given on to the saver, which wants a config.
            place = {"checkpoint_id": before, "checkpoint_ns": ns}
            asked["before"] = {**place, "configurable": place}
        path = f"/threads/{_named(thread)}/history"
        found: Sequence[State] = self._look(lambda sdk: sdk.http.post(path, json=asked), missing=_no_thread(thread))
        return found

    def state(self, thread: str, ns: str = "", id: str | None = None) -> State | None:
        """One checkpoint, the newest without an ``id``; None where there is none. Raises NotFound for the thread."""
        name, missing = _named(thread), _no_thread(thread)
        if id is None:
            # Not its /state: that is no checkpoint, but the newest one with what its finished tasks wrote applied.
            found = next(iter(self.history(thread, ns, limit=1)), {})
        else:
            at: Any = {"checkpoint_id": id, "checkpoint_ns": ns}
            found = self._look(lambda sdk: sdk.threads.get_state(name, checkpoint=at), missing=missing)
        # Of a checkpoint that is not there the server gives an empty state, which has no time.
        return found if found and found.get("created_at") and found.get("metadata") is not None else None

    def stored(self, ref: Ref) -> State:
        """A checkpoint that was just made. Raises Unsupported for a server that does not give it back."""
        found = self.state(*ref)
        if found is None:
            raise Unsupported(f"the server does not give back what it stored as {ref.id}")
        return found

    def assistant(self, id: str) -> Row:
        """Raises NotFound."""
        found: Row = self._look(lambda sdk: sdk.assistants.get(id), missing=f"the server has no assistant {id}")
        return found

    def has_subgraphs(self, thread: Row) -> bool:
        """Whether the graph that a thread is run with calls others; yes where the server does not say."""
        id = (thread.get("metadata") or {}).get("assistant_id")
        if not id:
            return True
        return bool(self._look(lambda sdk: sdk.assistants.get_subgraphs(id), missing=f"no assistant {id}"))

    def active_runs(self, thread: str) -> list[str]:
        """The ids of those that are under way or wait for their turn."""
        rows = self._look(lambda sdk: sdk.runs.list(_named(thread), limit=MOST_ROWS), missing=_no_thread(thread))
        return [row["run_id"] for row in rows if row["status"] in ("running", "pending")]

    # --- writing: each asked for once

    def copy(self, thread: str) -> str:
        """The whole thread again, all its checkpoints under their ids; gives the name that the server chose."""
        made: Value = self._write(lambda sdk: sdk.http.post(f"/threads/{_named(thread)}/copy", json=None), thread)
        return str(made["thread_id"])

    def create(self, metadata: Mapping[str, Value]) -> str:
        """A thread without a checkpoint; gives the name that the server chose."""
        with self._translated("it cannot make threads"):
            return str(self._sdk.threads.create(metadata=dict(metadata))["thread_id"])

    def update(self, base: Ref, values: Value, as_node: str | None) -> str:
        """``update_state`` at ``base``, or in its empty thread without an id; gives the new checkpoint's id."""
        at: Any = {"checkpoint_id": base.id, "checkpoint_ns": base.ns} if base.id else None
        made: Value = self._write(
            lambda sdk: sdk.threads.update_state(base.thread, values, as_node=as_node, checkpoint=at), base.thread
        )
        return str(made["checkpoint"]["checkpoint_id"])

    def note(self, thread: str, metadata: Mapping[str, Value]) -> None:
        """Merge into the thread's metadata."""
        self._write(lambda sdk: sdk.threads.update(thread, metadata=dict(metadata)), thread)

    def take_back(self, thread: str) -> None:
        """Delete a thread of our own making that nobody was told of."""
        try:
            self._write(lambda sdk: sdk.threads.delete(thread), thread)
        except StoreError as error:
            error.add_note(f"the thread {thread}, which is of no use, was left on the server")
            raise

    def stream(self, thread: str, assistant: str, wishes: Mapping[str, Any]) -> Iterator[Any]:
        """Start a run and give what the server tells of it. Refused where another run is under way on the thread."""
        lost = "The run goes on on the server, if that lives: read the thread again to see how far it came."
        with self._translated(_no_thread(thread), lost):
            yield from self._sdk.runs.stream(
                _named(thread),
                assistant,
                stream_mode=["tasks", "checkpoints"],
                stream_subgraphs=True,
                multitask_strategy="reject",
                on_disconnect="continue",
                stream_resumable=True,  # so that the client, connecting anew, gets what it missed
                **wishes,
            )

    def interrupt(self, thread: str, run: str) -> None:
        """Cancel a run where it stands."""
        self._write(lambda sdk: sdk.runs.cancel(_named(thread), run, wait=False, action="interrupt"), thread)

    # --- failures

    def _look(self, ask: Callable[[SyncLangGraphClient], Any], *, missing: str = "it is not there") -> Value:
        with self._translated(missing):
            try:
                return ask(self._sdk)
            except (self._httpx.ReadError, self._httpx.WriteError, self._httpx.RemoteProtocolError):
                return ask(self._sdk)

    def _write(self, ask: Callable[[SyncLangGraphClient], T], thread: str) -> T:
        with self._translated(_no_thread(thread)):
            return ask(self._sdk)

    @contextlib.contextmanager
    def _translated(
        self, missing: str, lost: str = "Try again; what was being written may have been written."
    ) -> Iterator[None]:
        """The one place where a failure of HTTP becomes a StoreError."""
        if not self._is_open:
            raise Unreachable("this store was closed")
        place, httpx = self._address.shown, self._httpx
        try:
            yield
        except httpx.HTTPStatusError as error:
            raise _refusal(error, place, missing) from None
        except httpx.ConnectError:
            raise Unreachable(
                f"no LangGraph server answers at {place}", hint="Start it with langgraph dev, or check the address."
            ) from None
        except httpx.ConnectTimeout:
            raise Unreachable(f"{place} did not answer within {CONNECT:.0f} s", hint="Check the address.") from None
        except httpx.TimeoutException:
            raise Busy(f"{place} takes longer than allowed to answer", hint="Try again in a moment.") from None
        except httpx.TransportError as error:
            raise Unreachable(f"the connection to {place} was lost ({type(error).__name__})", hint=lost) from None
        except (json.JSONDecodeError, UnicodeDecodeError):
            raise Corrupt(
                f"the answer of {place} is not JSON", hint="Is it the address of a LangGraph server's interface?"
            ) from None
        except RuntimeError as error:
            # httpx's word for a client that was closed meanwhile.
            if self._is_open:
                raise
            raise Unreachable("this store was closed") from error


def _installed() -> tuple[Any, Callable[[httpx.Client], SyncLangGraphClient]]:
    try:
        import httpx  # with langgraph_sdk 250 ms, for a server only
        from langgraph_sdk.client import SyncLangGraphClient
    except ImportError as error:
        raise Unsupported(
            f"a LangGraph server is reached through langgraph-sdk, and {error.name} cannot be imported",
            hint="Run pip install 'tt-debug[langgraph]'.",
        ) from None
    return httpx, SyncLangGraphClient


def _named(thread: str) -> str:
    """Every thread of a server is named by a UUID; any other name would be refused, or change the path asked for."""
    try:
        return str(UUID(thread))
    except ValueError:
        raise NotFound(_no_thread(thread), hint="A LangGraph server's threads are named by UUIDs.") from None


def _no_thread(thread: str) -> str:
    return f"no thread {thread!r} on the server"


def _refusal(error: httpx.HTTPStatusError, place: str, missing: str) -> StoreError:
    """What a status of HTTP means here."""
    status, said = error.response.status_code, _said(error)
    if status in (401, 403):
        return Unreachable(
            f"{place} refuses us: {said}", hint="Set LANGGRAPH_API_KEY (or LANGSMITH_API_KEY) to a key that it takes."
        )
    if status == 404:
        return NotFound(f"{missing} ({place})")
    if status == 409:
        return Conflict(f"{place} refuses: {said}", hint="Another run is under way on the thread: wait, or stop it.")
    if status in (408, 429, 503):
        return Busy(f"{place} is busy: {said}", hint="Try again in a moment.")
    if status in (502, 504):
        return Unreachable(f"{place} is not reached: {said}", hint="The way to the server is broken: try again.")
    if status >= 500:
        # One thread's graph may fail to load, or one value to be written as JSON: others can be asked for.
        return Corrupt(f"{place} failed: {said}", hint="The server's own log says why.")
    return Invalid(f"{place} refuses: {said}")


def _said(error: httpx.HTTPStatusError) -> str:
    """The server's reason in a line."""
    body = getattr(error, "body", None)
    found = body.get("detail") or body.get("message") if isinstance(body, Mapping) else None
    text = str(found or f"HTTP {error.response.status_code} {error.response.reason_phrase}").strip()
    return text.partition("\n")[0]
