"""How figures read in tables."""

from __future__ import annotations


def figure(value: float | None) -> str:
    """A figure in at most seven characters.

    >>> figure(0.15432), figure(12345.6), figure(None)
    ('0.1543', '12345.6', '-')
    """
    if value is None:
        return "-"
    if abs(value) >= 1e6 or (value and abs(value) < 1e-4):
        return f"{value:.1e}"
    return f"{value:.4f}"[:7]


def size(number: float) -> str:
    """Bytes in the unit that fits.

    >>> size(8192), size(3_000_000)
    ('8.0 KB', '2.9 MB')
    """
    for unit in ("bytes", "KB", "MB"):
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} GB"
