"""The terminal interface: the only package that imports textual."""

import os
from typing import Final

FRAMES: Final = 200
"""Frames a second at most. What a key changes is drawn with the next one: with Textual's 60 that takes up to 17 ms,
longer than drawing it. Where nothing changes there are none."""

os.environ.setdefault("TEXTUAL_FPS", str(FRAMES))
