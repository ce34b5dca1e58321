"""What a case yields, shortened for the record: named parts, each a list of texts, and how two of them differ."""

from __future__ import annotations

import base64
import hashlib
import re

Content = dict[str, list[str]]
"""Parts by name (ids, values, labels, …); an entry is a row, a name, an array or a line."""

MOST = 64  # letters of a part, one an entry; of longer parts each stands for several entries
SHORT = 40  # characters of a text that is kept as it is, where it is all of a part
SHOWN = 200  # characters of an entry in a difference


def digest(texts: list[str]) -> str:
    """The digest of a list of texts, 16 characters."""
    return _hashed(texts).hex()[:16]


def _hashed(texts: list[str]) -> bytes:
    found = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        found.update(len(data).to_bytes(8, "big") + data)
    return found.digest()


def shortened(content: Content) -> dict[str, str]:
    """Each part as a digest of all of it, the number of entries, and a letter for each; a short text stays itself.

    >>> shortened({"ids": ["1 2", "3"], "said": ["skipped 0"], "groups": []})
    {'ids': '168803ca 2 SM', 'said': '=skipped 0'}
    """
    return {part: _shortened(texts) for part, texts in content.items() if texts}


def _shortened(texts: list[str]) -> str:
    if len(texts) == 1 and len(texts[0]) <= SHORT:
        return f"={texts[0]}"
    step = step_of(len(texts))
    letters = "".join(letter(texts[k : k + step]) for k in range(0, len(texts), step))
    return f"{digest(texts)[:8]} {len(texts)} {letters}"


def letter(texts: list[str]) -> str:
    """One of 64 letters for some entries: it finds the first that differs, but for one in 64."""
    return base64.b64encode(_hashed(texts))[:1].decode()


def step_of(count: int) -> int:
    """How many entries a letter stands for."""
    return max(1, -(-count // MOST))


def differences(recorded: dict[str, str], content: Content, whole: Content | None = None) -> list[str]:
    """Sentences about the parts that differ; `whole` is what was recorded, where it was kept in full."""
    now = shortened(content)
    found = [
        f"{part}: the record has {_what(recorded[part])}, this run has none" for part in recorded if part not in now
    ]
    found += [
        f"{part}: the record has none, this run has {_shown(content[part][0])} first"
        for part in now
        if part not in recorded
    ]
    for part in now:
        if part in recorded and recorded[part] != now[part]:
            found.append(f"{part}: {_difference(recorded[part], content[part], (whole or {}).get(part))}")
    return found


def _what(recorded: str) -> str:
    return _shown(recorded[1:]) if recorded.startswith("=") else f"{recorded.split(' ')[1]} entries"


def _difference(recorded: str, texts: list[str], whole: list[str] | None) -> str:
    if recorded.startswith("="):
        return f"was {_shown(recorded[1:])}, is {_shown(texts[0])}" + (
            f" and {len(texts) - 1} more" if texts[1:] else ""
        )
    _, count, letters = recorded.split(" ")
    length = int(count)
    said = "" if length == len(texts) else f"{length:,} entries were recorded, there are {len(texts):,}; "
    step = step_of(length)
    for k in range(0, min(length, len(texts)), step):
        if whole is None and letter(texts[k : min(k + step, length)]) == letters[k // step]:
            continue
        if whole is not None:
            k = next((j for j in range(k, k + step) if texts[j : j + 1] != whole[j : j + 1]), -1)
            if k < 0:
                continue
            was, now = (_shown(each[k]) if k < len(each) else "absent" for each in (whole, texts))
            return f"{said}first in entry {k}: was {was}, is {now}"
        where = f"entry {k}" if step == 1 else f"entries {k} to {min(k + step, length) - 1}"
        return f"{said}first in {where}, now {_shown(texts[k])}"
    return f"{said}those that both have are the same" if said else "differ"


def _shown(text: str) -> str:
    shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(text):,} characters)"
    return repr(shown)


def joined(cases: dict[str, str]) -> dict[str, str]:
    """Names of cases with their digests, those of one digest that differ in their last word alone in one line.

    >>> joined({"a/b/file": "1", "a/b/gz": "1", "a/b/pipe": "2"})
    {'a/b/{file|gz}': '1', 'a/b/pipe': '2'}
    """
    found: dict[tuple[str, str], list[str]] = {}
    for name, key in cases.items():
        head, _, last = name.rpartition("/")
        found.setdefault((head, key), []).append(last)
    return {
        f"{head}/{lasts[0] if len(lasts) == 1 else '{' + '|'.join(lasts) + '}'}": key
        for (head, key), lasts in found.items()
    }


def parted(lines: dict[str, str]) -> dict[str, str]:
    """What `joined` was made of.

    >>> parted({"a/b/{file|gz}": "1"})
    {'a/b/file': '1', 'a/b/gz': '1'}
    """
    found = {}
    for name, key in lines.items():
        match = re.fullmatch(r"(.*/)\{(.*)\}", name)
        for case in [name] if match is None else [match[1] + last for last in match[2].split("|")]:
            found[case] = key
    return found
