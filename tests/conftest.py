"""Properties are judged by what they say, not by how busy the machine is."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("steady", deadline=None)
settings.load_profile("steady")
