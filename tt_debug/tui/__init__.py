"""The terminal interface: the only package that imports textual."""

import os
from typing import Final

FRAMES: Final = 500
"""Frames a second at most. After one Textual lets up to two pass before it draws what the next key changes: of its 60
that takes up to 33 ms, of 200 still longer than drawing it. Where nothing changes there are none."""

os.environ.setdefault("TEXTUAL_FPS", str(FRAMES))
