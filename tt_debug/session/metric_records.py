"""Figures about a history as plain objects: what `stats --json` prints, and what the interface copies."""

from __future__ import annotations

from stores.model import Value
from tt_debug.session.records import Record
from tt_debug.timing import Timetable
from tt_debug.usage import Prices
from tt_debug.weighing import Scales


def size_record(scales: Scales, on_disk: int | None) -> Record:
    """Where the bytes lie; ``on_disk`` of the whole store, where that is a file."""
    return {
        "store_bytes": on_disk,
        "checkpoints": scales.checkpoints,
        "unread": scales.unread,
        "bytes": scales.total,
        "repeated": scales.repeated,
        "repeated_at_least": scales.bounded,
        "keys": [
            {
                "key": key,
                "checkpoints": tally.checkpoints,
                "bytes": tally.total,
                "newest": tally.newest,
                "largest": tally.largest,
                "growth_per_step": tally.growth,
                "changes": tally.changes,
                "repeated": tally.repeated,
                "written": tally.written,
            }
            for key, tally in scales.by_size()
        ],
        "threads": [
            {"thread": name, "checkpoints": tally.checkpoints, "bytes": tally.total, "repeated": tally.repeated}
            for name, tally in scales.threads_by_size()
        ],
    }


def node_records(times: Timetable) -> list[Value]:
    """How long nodes took."""
    return [
        {
            "node": node.node,
            "runs": len(node.seconds),
            "errors": node.errors,
            "p50_seconds": node.at(0.5),
            "p95_seconds": node.at(0.95),
            "total_seconds": node.total,
            "shared_steps": node.shared,
            "waits": node.waits,
            "waited_seconds": node.waited,
        }
        for node in times.rows()
    ]


def cost_record(scales: Scales, prices: Prices) -> Record:
    """What model calls used; a cost is null where no price is known."""
    rows = scales.by_cost(prices)
    return {
        "currency": prices.currency,
        "input_tokens": sum(spent.input for _, _, spent, _ in rows),
        "output_tokens": sum(spent.output for _, _, spent, _ in rows),
        "cost": None if any(cost is None for *_, cost in rows) or not rows else sum(cost or 0.0 for *_, cost in rows),
        "by": [
            {
                "node": node,
                "model": model,
                "calls": spent.calls,
                "input_tokens": spent.input,
                "cached_tokens": spent.cached,
                "output_tokens": spent.output,
                "cost": cost,
            }
            for node, model, spent, cost in rows
        ],
    }
