"""``python -m tt_debug`` and the ``tt-debug`` script."""

from __future__ import annotations

import signal
import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line and leave with its exit code."""
    try:
        from tt_debug.cli.main import main as run

        code = run()
        # From here on one Ctrl-C more must not turn an end that is decided into a death by a signal.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:  # while it starts or ends: in between the command line takes care of it
        code = INTERRUPTED
    sys.exit(code)


if __name__ == "__main__":
    main()
