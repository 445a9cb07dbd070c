"""`python -m tests.bench.growth FIGURES.json PICTURE.svg`: how what was measured grows with the length of a thread.

Owns the picture; the figures are those that ``python -m tests.bench --json`` wrote.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

SIZES: Final = {"1k": 1_000, "10k": 10_000, "100k": 100_000, "1M": 1_000_000}
SIDES: Final = {"ours": ("#0b7285", "o-"), "peer": ("#c92a2a", "s--"), "floor": ("#868e96", "^:")}

Curve = Mapping[str, list[tuple[int, float]]]
"""Side → (checkpoints, seconds), ascending."""


def curves(records: Sequence[Mapping[str, Any]]) -> dict[str, Curve]:
    """Of the metrics that were measured at two lengths or more, by the name without the length."""
    found: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for record in records:
        name, _, size = record["metric"].rpartition("-")
        if size in SIZES:
            for side, figure in record["figures"].items():
                found.setdefault(name, {}).setdefault(side, []).append((SIZES[size], figure["value"]))
    return {
        name: {side: sorted(points) for side, points in sides.items()}
        for name, sides in found.items()
        if max(map(len, sides.values())) > 1
    }


def draw(found: Mapping[str, Curve], picture: Path) -> None:
    """One panel for each metric, both axes in powers of ten. A thin line leads from our first figure to where the last
    would be if it grew with the thread."""
    from matplotlib import pyplot, rcParams  # of the extra `bench`

    rcParams["svg.hashsalt"] = "growth"  # the same figures give the same bytes
    columns = min(3, len(found)) or 1
    rows = -(-len(found) // columns) or 1
    figure, panels = pyplot.subplots(rows, columns, figsize=(4 * columns, 3 * rows), squeeze=False)
    for panel, (name, sides) in zip(panels.flat, found.items(), strict=False):
        for side, points in sides.items():
            colour, style = SIDES[side]
            panel.loglog(*zip(*points, strict=True), style, color=colour, label=side)
        (first, seconds), (last, _) = sides["ours"][0], sides["ours"][-1]
        panel.loglog((first, last), (seconds, seconds * last / first), color="#ced4da", linewidth=1, label="linear")
        panel.set_title(name)
        panel.set_xlabel("checkpoints")
        panel.set_ylabel("seconds")
        panel.grid(visible=True, which="major", alpha=0.3)
        panel.legend(fontsize="small")
    for panel in panels.flat[len(found) :]:
        panel.set_visible(False)
    figure.tight_layout()
    figure.savefig(picture, format="svg", metadata={"Date": None})


def main(argv: Sequence[str]) -> None:
    """Draw what a file of figures holds."""
    figures, picture = map(Path, argv)
    draw(curves(json.loads(figures.read_text())), picture)


if __name__ == "__main__":
    main(sys.argv[1:])
