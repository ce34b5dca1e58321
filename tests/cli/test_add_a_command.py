"""The command of docs/developer/add_a_command.md is one file and one line."""

import re
import sys
import textwrap
from pathlib import Path
from types import ModuleType

from ouzel.cli.app import COMMANDS

PAGE = Path(__file__).parents[2] / "docs" / "developer" / "add_a_command.md"


def test_the_command_of_the_page_runs_helps_and_refuses_with_one_file_and_one_line(ouzel, small, monkeypatch):
    code = textwrap.dedent(re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[1])
    module = ModuleType("ouzel.cli.commands.count")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(code, "count.py", "exec"), vars(module))
    monkeypatch.setitem(COMMANDS, "count", "Count the examples of files.")

    assert ouzel("count", small).out == "1,000 examples\n"
    assert ouzel("count", small, "--most", 10).out == "10 examples\n"
    assert "--most INTEGER" in ouzel("count", "-h").out
    assert "count      Count the examples of files." in ouzel("-h").out
    assert ouzel("count", small, "--most", "x").err == "ouzel: --most takes a whole number; got 'x'\n"
    assert ouzel("count", "absent").err == "ouzel: absent: there is no such file\n"
    assert ouzel("schema", "count").err == "ouzel: count has no schema: it prints no JSON\n"
