"""The invariants say what they found, as asserts in a test do."""

import pytest

pytest.register_assert_rewrite("tests.crash.scenes", "tests.crash.effect_scenes")
