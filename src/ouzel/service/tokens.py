"""Bearer tokens with scopes, stored as hashes.

A token is 32 random bytes: it cannot be guessed, so its SHA-256 needs neither salt nor slowness. A file of tokens has a
line for each: its name, its scopes, its hash. All hashes are compared, in constant time.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from pathlib import Path
from typing import NamedTuple

from ouzel.errors import OuzelError

SCOPES = ("predict", "learn", "admin")
PREFIX = "ouzel_"


class Token(NamedTuple):
    """One line of the file."""

    name: str
    scopes: frozenset[str]
    digest: bytes  # SHA-256 of the token


def make_token(name: str, scopes: list[str]) -> tuple[str, str]:
    """Return a new token, and its line for the file of tokens.

    >>> token, line = make_token("till 3", ["predict", "learn"])
    >>> line.startswith("till-3 predict,learn "), Tokens.parse(line).scopes_of(token) == {"predict", "learn"}
    (True, True)
    """
    _check_scopes(scopes, "--scopes")
    token = PREFIX + secrets.token_urlsafe(32)
    return token, f"{'-'.join(name.split()) or 'token'} {','.join(scopes)} {_digest(token).hex()}"


def read_token(path: str) -> str:
    """Return the token in a file."""
    try:
        token = Path(path).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise OuzelError(f"{path}: cannot be read ({error}); put the token in it") from None
    if not token.isascii() or len(token.split()) != 1:
        raise OuzelError(
            f"{path}: expected one token, which `ouzel serve --new-token NAME` shows once; --tokens files have hashes"
        )
    return token


class Tokens:
    """The tokens of a service."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens

    @classmethod
    def read(cls, path: str) -> Tokens:
        """Read the tokens of a file."""
        try:
            text = Path(path).read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise OuzelError(
                f"{path}: cannot be read ({error}); `ouzel serve --new-token NAME` makes a line of it"
            ) from None
        return cls.parse(text, path)

    @classmethod
    def parse(cls, text: str, name: str = "tokens") -> Tokens:
        """Parse the text of a file of tokens; skip blank lines and those that start with #."""
        found = []
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            place = f"{name}:{number}"
            parts = line.split()
            if len(parts) != 3:
                raise OuzelError(
                    f"{place}: expected a name, scopes and a hash, as `ouzel serve --new-token NAME` prints"
                )
            scopes = parts[1].split(",")
            _check_scopes(scopes, place)
            try:
                digest = bytes.fromhex(parts[2])
            except ValueError:
                digest = b""
            if len(digest) != 32:
                raise OuzelError(f"{place}: the hash is not 64 hexadecimal digits; make the line again")
            found.append(Token(parts[0], frozenset(scopes), digest))
        if not found:
            raise OuzelError(f"{name}: has no token; `ouzel serve --new-token NAME` makes a line of it")
        return cls(found)

    def scopes_of(self, token: str) -> frozenset[str]:
        """Return the scopes of a token; none if it is not known."""
        given = _digest(token)
        scopes: frozenset[str] = frozenset()
        for known in self._tokens:
            if hmac.compare_digest(known.digest, given):
                scopes = known.scopes
        return scopes


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def _check_scopes(scopes: list[str], place: str) -> None:
    for scope in scopes:
        if scope not in SCOPES:
            raise OuzelError(f"{place}: there is no scope {scope!r}; there are {', '.join(SCOPES)}")
