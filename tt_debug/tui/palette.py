"""What the command palette finds: actions of the screen, threads, and places (``15``, ``50%``, ``-1``, an id).

Owns matching and wording. Doing it is the screen's: `BaseScreen.perform`, and ``go_to(text)`` where there is a line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from textual import events, on
from textual.await_complete import AwaitComplete
from textual.command import CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.fuzzy import Matcher
from textual.widgets import Input

from tt_debug.text import counted, safe_text
from tt_debug.tui.actions import Safety, for_screen, shown_key
from tt_debug.tui.screens.going import Shows
from tt_debug.tui.tour import Tour

if TYPE_CHECKING:
    from stores.model import Ref
    from tt_debug.tui.app import TtDebugApp
    from tt_debug.tui.opening import OpenStore

PLACE: Final = re.compile(r"^(?:go to |step )?(?P<place>-?\d+%?|[0-9a-f]{4,}[0-9a-f-]*)$", re.IGNORECASE)
"""A step, a share of the line, steps before the head, or (the beginning of) a checkpoint id."""

THREADS_SHOWN: Final = 50

FIRST: Final = 1e9
"""A score above any match: what was typed is a place, whatever else it resembles."""


class Entry(NamedTuple):
    """One thing that can be chosen."""

    title: str
    run: Callable[[], object]
    note: str


class _Entries(Provider):
    """A provider over `Entry`s whose text never counts as markup."""

    @property
    def tt(self) -> TtDebugApp:
        """The app, typed."""
        from tt_debug.tui.app import TtDebugApp  # the app imports this module

        assert isinstance(self.app, TtDebugApp)
        return self.app

    def found(self, score: float, entry: Entry) -> Hit:
        """A hit."""
        return Hit(score, Content(entry.title), entry.run, text=entry.title, help=_plain(entry.note))

    def offered(self, entry: Entry) -> DiscoveryHit:
        """What is listed before anything was typed."""
        return DiscoveryHit(Content(entry.title), entry.run, text=entry.title, help=_plain(entry.note))


def _plain(text: str) -> str:
    # Typed as markup text, but a Content passes through unparsed, and a file or thread may be named "[/red]".
    return cast(str, Content(text))


class Commands(_Entries):
    """The palette over everything."""

    async def discover(self) -> Hits:
        """Every action of the screen."""
        for entry in actions(self.tt, self.screen):
            yield self.offered(entry)

    async def search(self, query: str) -> Hits:
        """A place first, then actions, then threads and bookmarks."""
        for score, entry in found(self.tt, self.screen, query):
            yield self.found(score, entry)


class ThreadCommands(_Entries):
    """A picker over the threads and the bookmarks."""

    async def discover(self) -> Hits:
        """The newest ones."""
        for entry in (*threads(self.tt, ""), *self._named()):
            yield self.offered(entry)

    async def search(self, query: str) -> Hits:
        """Those whose name matches."""
        for score, entry in scored((*threads(self.tt, query), *self._named()), query):
            yield self.found(score, entry)

    def _named(self) -> list[Entry]:
        sign = self.tt.glyphs.bookmark
        return [entry._replace(title=f"{sign} {entry.title}") for entry in bookmarks(self.tt)]


class Palette(CommandPalette):
    """Textual's palette for people who type faster than it opens: no key is lost, and Enter goes to the place that
    was typed, not to what the list of an earlier text had on top."""

    def __init__(self, providers: list[type[Provider]] | None = None, placeholder: str = "type a command…") -> None:
        super().__init__(providers, placeholder=placeholder, id="--command-palette")
        self._early: list[events.Key] = []

    def on_mount(self) -> None:
        """What was typed before there was an input."""
        for event in self._early:
            self.take(event)

    def take(self, event: events.Key) -> None:
        """A key that came before the input had the focus."""
        box = next(iter(self.query(Input)), None)
        if box is None:
            self._early.append(event)
        elif event.key == "enter":
            box.post_message(Input.Submitted(box, box.value))
        elif event.is_printable and event.character:
            box.value += event.character
            box.action_end()

    def _action_command_list(self, action: str) -> None:
        """Textual's list looks up lines it has not laid out when there is no room for one."""
        if self.query_one(CommandList).scrollable_content_region.height:
            super()._action_command_list(action)

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Close it, once: of Enter and Esc in one go the second would take away the screen below."""
        return super().dismiss(result) if self.is_active else AwaitComplete()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        if not self.is_active:
            event.prevent_default()
            return
        # The stock palette leaves the calling screen right below itself.
        entry = place_entry(self.app.screen_stack[-2], event.value)
        if entry is None:
            return
        event.stop()
        event.prevent_default()
        self.workers.cancel_all()
        self.dismiss()
        self.app.call_later(entry.run)


def found(app: TtDebugApp, screen: object, query: str) -> Iterator[tuple[float, Entry]]:
    """Everything that fits ``query`` on ``screen``, with its score."""
    place = place_entry(screen, query)
    if place is not None:
        yield FIRST, place
    yield from scored(actions(app, screen), query)
    for score, entry in scored(threads(app, query), query):
        yield score * 0.9, entry._replace(title=f"thread {entry.title}")
    for score, entry in scored(bookmarks(app), query):
        yield score * 0.9, entry._replace(title=f"bookmark {entry.title}")


def scored(entries: Iterable[Entry], query: str) -> Iterator[tuple[float, Entry]]:
    """Those whose title holds ``query``'s letters in order, the closest with the highest score."""
    matcher = Matcher(query)
    for entry in entries:
        if (score := matcher.match(entry.title)) > 0:
            yield score, entry


def place_entry(screen: object, query: str) -> Entry | None:
    """Going to the place that ``query`` names, where the screen has a line to go along."""
    go_to = getattr(screen, "go_to", None)
    place = PLACE.match(query.strip())
    if go_to is None or place is None:
        return None
    return Entry(f"go to {_place_words(place['place'])}", partial(go_to, place["place"]), "on this line")


def actions(app: TtDebugApp, screen: object) -> Iterator[Entry]:
    """What can be done on ``screen``, with keys and safety class; what is refused stays listed and says why."""
    perform = getattr(screen, "perform", None)
    if perform is not None:
        for action in for_screen(getattr(screen, "WHERE", "everywhere"), app.actions):
            if action.id != "palette":
                keys = " ".join(shown_key(key, ascii_only=app.glyphs.ascii) for key in action.keys)
                wears = "" if action.safety is Safety.LOOK else f" · {action.safety.value}"
                yield Entry(
                    app.glyphs.words(action.title), partial(perform, action.id), f"{action.help}  {keys}{wears}"
                )
    yield Entry("Theme", app.action_change_theme, "Choose the colours; the choice is kept.")
    yield Entry("Take the tour", partial(app.take_tour, Tour()), "The demo's thread in six steps, from the beginning.")
    if app.tip_for_home():
        yield Entry("Tips off", partial(app.show_tips, False), "No tips on Home any more.")
    else:
        yield Entry("Tips on", partial(app.show_tips, True), "A tip on Home, each time another one.")


def threads(app: TtDebugApp, query: str) -> Iterator[Entry]:
    """At most 50 of the threads that have been read, those that hold ``query``'s letters in order first come."""
    pattern = re.compile(".*".join(re.escape(letter) for letter in query), re.IGNORECASE | re.DOTALL)
    shown = 0
    for listing in app.listings:
        for info in listing.threads:
            if shown == THREADS_SHOWN:
                return
            if pattern.search(info.thread):
                shown += 1
                held = "" if info.checkpoints is None else f"{counted(info.checkpoints, 'checkpoint')} · "
                note = f"{info.status} · {held}{listing.store.label}"
                yield Entry(
                    safe_text(info.thread), partial(app.show_thread, listing.store, info.thread), safe_text(note)
                )


def bookmarks(app: TtDebugApp) -> Iterator[Entry]:
    """The bookmarks that were read, by name."""
    for store, mark in app.bookmarks:
        note = "  ".join(filter(None, (mark.ref.thread, mark.note, store.label)))
        go = partial(_go_to, app, store, mark.ref)
        yield Entry(safe_text(mark.name), go, safe_text(note))


def _go_to(app: TtDebugApp, store: OpenStore, ref: Ref) -> None:
    screen = app.screen
    if isinstance(screen, Shows) and screen.shows(store, ref):
        screen.select_ref(ref)
    else:
        app.show_thread(store, ref.thread, ref)


def _place_words(text: str) -> str:
    if text.endswith("%"):
        return text
    if text.startswith("-"):
        return f"{text[1:]} before the head"
    return f"step {text}" if text.isdigit() else f"checkpoint {text}"
