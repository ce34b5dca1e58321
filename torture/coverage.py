"""Which lines of the package have run, for breeding inputs that reach new ones: cheap from Python 3.12 on.

Each line reports itself once and is then switched off. Under Python 3.11, and in compiled kernels, an input is new by
what became of it alone; `torture guided` has Atheris look closer.
"""

from __future__ import annotations

import sys
from typing import Any

REASON = "" if hasattr(sys, "monitoring") else "Python 3.11 cannot tell which lines run; inputs are bred by outcome"


class Coverage:
    """Lines of the package that ran for the first time in this process."""

    def __init__(self) -> None:
        self.new = 0
        monitoring: Any = getattr(sys, "monitoring", None)
        if monitoring is None:
            return
        tool = monitoring.COVERAGE_ID
        if monitoring.get_tool(tool) is None:
            monitoring.use_tool_id(tool, "torture")
        monitoring.register_callback(tool, monitoring.events.LINE, self._line)
        monitoring.set_events(tool, monitoring.events.LINE)

    def fresh(self) -> bool:
        """Whether a line ran for the first time since this was last asked."""
        new, self.new = self.new, 0
        return new > 0

    def _line(self, code: Any, line: int) -> Any:
        self.new += "/ouzel/" in code.co_filename
        return sys.monitoring.DISABLE  # type: ignore[attr-defined]
