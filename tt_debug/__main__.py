"""``python -m tt_debug`` and the ``tt-debug`` script."""

from __future__ import annotations

import gc
import signal
import sys

INTERRUPTED = 130
MADE_BY_A_START = 100_000
"""More objects than importing makes."""


def main() -> None:
    """Run the command line and leave with its exit code."""
    # What imports make stays: going over it, while it grows and once more at the end, took a fifth of a short command.
    gc.set_threshold(MADE_BY_A_START)
    try:
        from tt_debug.cli.main import main as run

        code = run()
        # From here on one Ctrl-C more must not turn an end that is decided into a death by a signal.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:  # while it starts or ends: in between the command line takes care of it
        code = INTERRUPTED
    gc.freeze()
    sys.exit(code)


if __name__ == "__main__":
    main()
