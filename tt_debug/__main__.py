"""``python -m tt_debug`` and the ``tt-debug`` script."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    from tt_debug.cli.main import main as run

    sys.exit(run())


if __name__ == "__main__":
    main()
