"""Where a run is to stop, as the user writes it: before a node, at a step, or once something holds. Pure.

``NODE`` or ``node:NODE`` · ``@15`` or ``step:15`` · ``when:EXPRESSION`` in JMESPath; a node of exactly that name wins.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from stores.edges import NoMatch, first_match
from stores.model import Value
from tt_debug.errors import UsageError

if TYPE_CHECKING:
    from tt_debug.definition.workflow import Workflow

_STEP: Final = re.compile(r"(?:@|step:)(-?\d+)")


@dataclass(frozen=True, slots=True)
class Until:
    """One of the three is given, or none: then the run goes on to its end."""

    node: str | None = None
    step: int | None = None
    when: str | None = None

    def said(self) -> str:
        """Where that is, in words; empty where it is the end."""
        if self.node is not None:
            return f"before {self.node}"
        return f"at step {self.step}" if self.step is not None else f"once {self.when}" if self.when else ""

    def reached(self, node: str | None, step: int, state: Mapping[str, Value]) -> bool:
        """Whether a run stops that stands at ``step`` with ``state``, before ``node``.

        A condition that cannot be evaluated on this state does not hold yet."""
        if self.node is not None:
            return node == self.node
        if self.step is not None:
            return step >= self.step
        if self.when is None:
            return False
        try:
            first_match([(self.when, None)], state)
        except NoMatch:
            return False
        return True


def parse_until(text: str | None, workflow: Workflow) -> Until:
    """Raises UsageError for a node that the workflow does not have, and for what is no JMESPath expression."""
    if text is None:
        return Until()
    if workflow.node(text) is not None:
        return Until(node=text)
    step = _STEP.fullmatch(text)
    if step is not None:
        return Until(step=int(step[1]))
    if text.startswith("when:"):
        return Until(when=_compiled(text.removeprefix("when:").strip()))
    name = text.removeprefix("node:")
    if workflow.node(name) is None:
        raise UsageError(
            f"{workflow.workflow_id} {workflow.version} has no node {name!r} to stop before",
            hint=f"its nodes are {', '.join(node.id for node in workflow.nodes)}; @N is a step, when:EXPR a condition",
        )
    return Until(node=name)


def _compiled(text: str) -> str:
    import jmespath
    from jmespath.exceptions import JMESPathError

    try:
        jmespath.compile(text)
    except (JMESPathError, RecursionError) as error:
        raise UsageError(f"when:{text} is no JMESPath expression: {error}".replace("\n", " ")) from error
    return text
