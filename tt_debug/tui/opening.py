"""How stores are opened for the interface: read-only or not, with which graph or workflow; and the demo's two.

Owns short names. It blocks, so screens call it through the loader.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from stores.errors import Unreachable
from stores.registry import mask_password

if TYPE_CHECKING:
    from tt_debug.session.plans import GraphTarget
    from tt_debug.session.session import Session


@dataclass(frozen=True, slots=True)
class OpenStore:
    """A store that is open. ``url`` names it, without a password; ``label`` is its short name in titles.

    ``secret`` opens it again: never to be shown, copied or kept.
    """

    url: str
    label: str
    session: Session
    secret: str = field(default="", repr=False)

    @property
    def address(self) -> str:
        """What opens it again."""
        return self.secret or self.url


def label_of(session: Session) -> str:
    """A store's short name: its file's, a database's with its host, a server's address; else its masked URL."""
    info = session.info
    if info.path:
        return Path(info.path).name
    parts = urlsplit(info.url)
    host = parts.netloc.rpartition("@")[2]
    schema = dict(parse_qsl(parts.query)).get("schema", "")
    name = "/".join(filter(None, (unquote(parts.path.strip("/")), schema)))
    return "@".join(filter(None, (name, host))) or info.url


class Opening(NamedTuple):
    """What every store of this app is opened with."""

    read_only: bool = False
    graph: GraphTarget | None = None
    workflow: Path | None = None

    def open(self, url: str) -> OpenStore:
        """Raises StoreError."""
        from tt_debug.session.session import Session  # 150 ms: tests of the screens never need it

        session = Session.open(url, read_only=self.read_only, graph=self.graph, workflow=self.workflow)
        return OpenStore(mask_password(url), label_of(session), session, url)

    def open_all(self, urls: Sequence[str]) -> tuple[OpenStore, ...]:
        """One after the other; raises the first one's StoreError."""
        return tuple(self.open(url) for url in urls)

    def demo(self) -> tuple[OpenStore, ...]:
        """The example's two stores, put where they belong if they are not there. Raises Unreachable, StoreError."""
        from tt_debug.demo import prepare  # zstandard, 10 ms
        from tt_debug.session.plans import GraphTarget

        try:
            files = prepare()
        except OSError as error:
            hint = "TT_DEBUG_HOME=FOLDER moves it"
            raise Unreachable(f"the example cannot be made: {error.strerror}", hint=hint) from error
        graph = GraphTarget(files.graph, folder=files.langgraph.parent)
        return Opening(self.read_only, graph).open_all((str(files.native), str(files.langgraph)))

    def with_graph_of(self, folder: Path) -> Opening:
        """The same with the only graph that ``folder``'s langgraph.json names, when none was given."""
        name = None if self.graph is not None else only_graph(folder / "langgraph.json")
        if name is None:
            return self
        from tt_debug.session.plans import GraphTarget  # with runs and their events, 12 ms

        return Opening(self.read_only, GraphTarget(name, folder=folder), self.workflow)


def only_graph(config: Path) -> str | None:
    """The graph a langgraph.json names; None when there is no such file, it is broken, or it names several."""
    try:
        graphs = json.loads(config.read_text(encoding="utf-8")).get("graphs", {})
    except (OSError, ValueError, AttributeError):
        return None
    return next(iter(graphs)) if isinstance(graphs, dict) and len(graphs) == 1 else None
