"""``doctor``: what this installation, this terminal and, when one is named, this store are good for."""

from __future__ import annotations

import os
from dataclasses import dataclass

import click

from stores.errors import StoreError
from tt_debug.cli.completing import StoreName
from tt_debug.cli.exits import ExitCode, code_of, masked
from tt_debug.cli.findings import Finding
from tt_debug.cli.front import Front
from tt_debug.cli.options import Target, gathered, looking_options
from tt_debug.cli.output import Output


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorOptions(Target):
    """With or without a store."""

    store: str | None  # type: ignore[assignment]


@click.command(
    epilog="Completion of commands, threads and THREAD@STEP in your shell: "
    'eval "$(_TT_DEBUG_COMPLETE=bash_source tt-debug)"; zsh_source and fish_source likewise.'
)
@click.argument("store", metavar="[STORE]", required=False, type=StoreName())
@looking_options
@gathered(DoctorOptions)
def doctor(front: Front, options: DoctorOptions) -> ExitCode:
    """Check the terminal, the installation and a store."""
    from tt_debug.cli import machine_checkup, store_checkup

    output, code = Output(options.as_json), ExitCode.OK
    found = [*machine_checkup.terminal(os.environ), *machine_checkup.installation(), *machine_checkup.own_files()]
    found += machine_checkup.configured(os.environ)
    if options.store is not None:
        try:
            for finding in store_checkup.store(front, options.store):
                found.append(finding)
                code = ExitCode.NOT_FOUND if finding.level == "bad" else code
        except StoreError as error:
            found.append(Finding("store", "bad", masked(str(error)), error.hint))
            code = code_of(error)
    if output.as_json:
        output.document("doctor", [finding.record() for finding in found])
    else:
        output.text(line for finding in found for line in finding.lines())
    return code
