"""Where a PostgreSQL store is: URLs and connection strings, taken apart without showing what is secret in them.

Owns `?schema=` and the column mapping among libpq's own parameters; `PG*` variables, services and password files are
libpq's business. The driver is imported when first needed (135 ms), and may be missing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode

from stores.errors import Unsupported
from stores.urls import POSTGRES_URL

_PART: Final = r"""(?:'(?:[^'\\]|\\.)*'|\S+)"""
OURS: Final = frozenset({"schema", "table", "thread", "id", "parent", "state", "step", "node", "status", "created"})
"""Parameters of a URL that say which tables are meant; libpq never sees them."""
_PLACE: Final = ("user", "host", "port", "dbname")
_SECRET: Final = ("password", "sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret")
_FORM: Final = "Write postgresql://USER@HOST:PORT/DATABASE; in a password, write what is no letter or digit as %XX."


@dataclass(frozen=True, slots=True)
class Address:
    """One database, and what of it is meant. ``parameters`` are libpq's, among them secrets: never shown.

    ``shown`` opens the same database, with ``***`` for a password. ``chosen`` is what the URL said of `OURS`.
    """

    shown: str
    parameters: Mapping[str, str] = field(repr=False)
    chosen: Mapping[str, str] = field(default_factory=dict)

    @property
    def secret_url(self) -> str:
        """A URL with everything in it, for another process of ours: never to be shown or kept."""
        return f"postgresql://?{urlencode({**self.parameters, **self.chosen}, quote_via=quote)}"

    @property
    def schema(self) -> str | None:
        """The schema that was asked for."""
        return self.chosen.get("schema")

    @property
    def place(self) -> str:
        """Host, port, database and schema: what tells one store from another, whoever logs in."""
        parts = _filled_in(self.parameters)
        names = (*_PLACE[1:], "service")
        return "\n".join([*(parts.get(name, "") for name in names), self.schema or ""])

    @property
    def mapping(self) -> dict[str, str]:
        """The column mapping that was asked for, by the fields of `stores.table.TableMapping`; empty for none."""
        return {name: value for name, value in self.chosen.items() if name != "schema"}

    def choosing(self, **chosen: str) -> Address:
        """The same database with these of `OURS`, and no others."""
        return replace(self, shown=_shown(self.parameters, chosen), chosen=chosen)

    def masked(self, text: str) -> str:
        """A text of libpq's as it may be shown: a secret that it quotes is ``***``."""
        for name in _SECRET:
            if secret := self.parameters.get(name):
                text = text.replace(secret, "***")
        return text


def named_by(environ: Mapping[str, str]) -> str | None:
    """The database that libpq's variables name, as it may be shown; None where they name none. Needs no driver."""
    if service := environ.get("PGSERVICE"):
        return f"service={service}"
    host, name = environ.get("PGHOST", ""), environ.get("PGDATABASE", "")
    user = f"{environ['PGUSER']}@" if environ.get("PGUSER") else ""
    return f"postgresql://{user}{host}/{name}" if host or name else None


def address_of(url: str) -> Address:
    """Take a URL or connection string apart. Raises Unsupported, quoting nothing of it, where libpq cannot read it."""
    uri = POSTGRES_URL.fullmatch(url)
    libpq, chosen = _split_uri(uri[1]) if uri is not None else _split_keywords(url)
    psycopg = driver()
    try:
        parameters = psycopg.conninfo.conninfo_to_dict(libpq)
    except psycopg.ProgrammingError:
        # libpq quotes what it could not read, and that may be a piece of the password: neither text nor cause.
        raise Unsupported("this is no PostgreSQL URL that libpq can read", hint=_FORM) from None
    known = {name: str(value) for name, value in parameters.items() if value is not None}
    if not re.fullmatch(r"[0-9,]*", known.get("port", "")) or "@" in known.get("host", "") + _unescaped(uri, "@"):
        # A password with an unescaped sign in it was cut there, and its pieces count as host, port or name.
        raise Unsupported("this PostgreSQL URL names no host and port", hint=_FORM)
    return Address(_shown(known, chosen), known, chosen)


def driver() -> ModuleType:
    """psycopg. Raises Unsupported, saying how to install it, where it is missing."""
    try:
        import psycopg
        import psycopg.conninfo
    except ImportError as error:
        raise Unsupported(
            f"PostgreSQL needs psycopg, which cannot be imported: {error}", hint="pip install 'tt-debug[postgres]'"
        ) from error
    return psycopg


def _split_uri(rest: str) -> tuple[str, dict[str, str]]:
    place, _, query = rest.partition("?")
    given = parse_qsl(query, keep_blank_values=True)
    libpq = urlencode([pair for pair in given if pair[0] not in OURS], quote_via=quote)
    return f"postgresql://{place}{'?' if libpq else ''}{libpq}", {name: value for name, value in given if name in OURS}


def _split_keywords(text: str) -> tuple[str, dict[str, str]]:
    chosen: dict[str, str] = {}

    def take(found: re.Match[str]) -> str:
        value = found[2]
        chosen[found[1]] = re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith("'") else value
        return " "

    return re.sub(rf"(?:^|(?<=\s))({'|'.join(OURS)})\s*=\s*({_PART})", take, text), chosen


def _unescaped(uri: re.Match[str] | None, sign: str) -> str:
    """The sign, where it stands as itself behind a URL's host."""
    return sign if uri is not None and sign in uri[1].partition("?")[0].partition("/")[2] else ""


def _shown(parameters: Mapping[str, str], chosen: Mapping[str, str]) -> str:
    """A URL of it; what libpq would take from the environment is filled in, so that one sees where it leads."""
    given = _filled_in(parameters)
    user, host, port, name = (given.get(part, "") for part in _PLACE)
    query = {key: value for key, value in parameters.items() if key not in (*_PLACE, *_SECRET)}
    if host.startswith(("/", "@")) or "," in host:
        query, host, port = {"host": host, **({"port": port} if port else {}), **query}, "", ""
    secret = ":***" if "password" in parameters else ""
    login = f"{quote(user, safe='')}{secret}@" if user or secret else ""
    place = f"{f'[{host}]' if ':' in host else host}{f':{port}' if port and host else ''}"
    said = urlencode({**query, **chosen}, quote_via=quote, safe="/")
    return f"postgresql://{login}{place}/{quote(name or user, safe='')}{'?' if said else ''}{said}"


def _filled_in(parameters: Mapping[str, str]) -> dict[str, str]:
    """With what the environment says of the place; a service says all of it itself."""
    if "service" in parameters:
        return dict(parameters)
    from psycopg import pq

    told = {option.keyword.decode(): option.val for option in pq.Conninfo.get_defaults()}
    return {**{name: (told.get(name) or b"").decode("utf-8", "replace") for name in _PLACE}, **parameters}
