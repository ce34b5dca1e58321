"""Blocks with the features that are made of others: n-grams, then crosses. A stream has one `Deriver`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ouzel.errors import DataError, listed
from ouzel.streams.block import Block
from ouzel.streams.crosses.crossing import Crosser
from ouzel.streams.ngrams.grams import NGrams
from ouzel.streams.options import Options
from ouzel.streams.patterns import matches


class Deriver:
    """Makes what the options of a stream ask for of one block after the other."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.derived = options.derived
        self._learnt = options.space.known
        self._grams = NGrams(options) if options.derived.ngrams else None
        self._crosser = Crosser(options) if options.derived.crosses else None
        self._met: set[str] = set()  # fields

    def all(self, blocks: Iterable[Block], whole: bool = True) -> Iterator[Block]:
        """The blocks with what is made; those of very many features in parts, unless they are to stay `whole`."""
        for block in blocks:
            yield from self.parts(block, whole) if self.derived else (block,)

    def tell_again(self) -> None:
        """Tell the names of what is made from the next block on anew."""
        for maker in (self._grams, self._crosser):
            if maker is not None:
                maker.told.again()

    def unknown(self, name: str) -> list[str]:
        """A line for people if what is to be made is of fields that were not met."""
        odd = [field for field in self.derived.fields if not any(matches(one, (field,)) for one in self._met)]
        odd = [] if self.derived.ngrams and odd == ["*"] else odd
        return [f"{name}: nothing to make {self.derived} of is called {listed(odd)}"] if odd else []

    def parts(self, block: Block, whole: bool = False) -> Iterator[Block]:
        """A block with what is made of its factors, in parts."""
        if block.factors is None:
            if not block.rows or not block.space.known or block.space.derived == self.derived:
                yield block
            else:
                has = f"the model was learnt with {self.derived}, and" if self._learnt else ""
                asked = {name: list(made) for name, made in self.derived._asdict().items() if made}
                raise DataError(
                    f"{has} this data has no columns or namespaces to make them of; leave out".strip(), **asked
                )
            return
        self._met.update(block.factors.names)
        block = block._replace(space=block.space._replace(derived=self.derived, named=True))
        parts = iter([block]) if self._grams is None else self._grams.parts(block, whole)
        for part in parts:
            for made in (part,) if self._crosser is None else self._crosser.parts(part, whole):
                yield made._replace(factors=None)
