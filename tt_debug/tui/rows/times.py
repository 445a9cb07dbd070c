"""Durations as short as a column needs them."""

from __future__ import annotations


def delta_text(seconds: float) -> str:
    """A step's duration with its sign: "+174ms", "+2.1s", "+3m12", "+2h05", "+4d"."""
    sign = "-" if seconds < 0 else "+"
    seconds = abs(seconds)
    if seconds < 0.9995:
        return f"{sign}{seconds * 1000:.0f}ms"
    if seconds < 59.95:
        return f"{sign}{seconds:.1f}s"
    minutes = round(seconds / 60) if seconds >= 3600 else int(seconds // 60)
    if seconds < 3600:
        return f"{sign}{minutes}m{int(seconds % 60):02}"
    if seconds < 86_400 * 2:
        return f"{sign}{minutes // 60}h{minutes % 60:02}"
    return f"{sign}{seconds / 86_400:.0f}d"


def clock_text(seconds: float) -> str:
    """Elapsed time as a clock: "00:42", "1:02:03"."""
    whole = int(max(0.0, seconds))
    hours, rest = divmod(whole, 3600)
    minutes, secs = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{secs:02}" if hours else f"{minutes:02}:{secs:02}"
