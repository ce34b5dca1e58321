"""The command line, for tests of logs."""

from tests.cli.conftest import ouzel  # noqa: F401
