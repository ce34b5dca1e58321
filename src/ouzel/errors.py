"""The one exception that people cause and people can mend."""

from __future__ import annotations


class OuzelError(ValueError):
    """Bad input, a bad setting or a bad file: one line that says where, what was found, and what to do."""


class DataError(OuzelError):
    """Bad data in a stream: `file:line:column: found …; expected …; what to do`."""
