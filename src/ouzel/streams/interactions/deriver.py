"""Blocks with the features that are made of others: bins and hinges, n-grams, crosses. A stream has one `Deriver`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from ouzel.errors import DataError, listed
from ouzel.streams.block import Block
from ouzel.streams.options import Options
from ouzel.streams.patterns import matches

if TYPE_CHECKING:
    from ouzel.streams.interactions.bin_edges import Edges
    from ouzel.streams.interactions.transform import Maker


class Deriver:
    """Makes what the options of a stream ask for of one block after the other.

    Edges of bins are those that another one, which this is `like`, has found or finds.
    """

    def __init__(self, options: Options, like: Deriver | None = None) -> None:
        self.options = options
        self.derived = options.derived
        self._learnt = options.space.known
        self._edges: Edges | None = None
        if options.derived.of_numbers:
            from ouzel.streams.interactions.bin_edges import Edges

            self._edges = Edges(options) if like is None else like._edges
        self._makers = _makers_of(options, self._edges)
        self._met: set[str] = set()  # fields

    def all(self, blocks: Iterable[Block], whole: bool = True) -> Iterator[Block]:
        """The blocks with what is made; those of very many features in parts, unless they are to stay `whole`."""
        if self._edges is not None:
            blocks = self._edges.ahead(blocks)
        for block in blocks:
            yield from self.parts(block, whole) if self.derived else (block,)

    @property
    def edges(self) -> Mapping[str, tuple[float, ...]]:
        """Those of bins and hinges, by column, once they are known."""
        return {} if self._edges is None else self._edges.found

    def look(self, block: Block) -> None:
        """Take note of a block that is to be learnt, whose numbers may tell edges."""
        if self._edges is not None:
            self._edges.look(block)

    def fix(self) -> None:
        """Have edges told by what was looked at, though there is little of it."""
        if self._edges is not None and not self._edges.fixed:
            self._edges.fix()

    def tell_once(self) -> None:
        """Tell names once only."""
        for maker in self._makers:
            maker.told.once = True

    def tell_again(self) -> None:
        """Tell the names of what is made from the next block on anew."""
        for maker in self._makers:
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
                lacks = "this data has no columns or namespaces"
                if self._learnt:
                    raise DataError(f"the model was learnt with {self.derived}, and {lacks} to make them of")
                raise DataError(f"{lacks} to make {self.derived} of; leave them out")
            return
        self._met.update(block.factors.names)
        block = block._replace(space=block.space._replace(derived=self.derived, named=True, edges=self.edges))
        for made in self._made(block, self._makers, whole):
            yield made._replace(factors=None)

    def _made(self, block: Block, makers: list[Maker], whole: bool) -> Iterator[Block]:
        """A block with what some makers make, each of what the one before has made, in parts."""
        if not makers:
            yield block
            return
        for part in makers[0].parts(block, whole):
            yield from self._made(part, makers[1:], whole)


def _makers_of(options: Options, edges: Edges | None) -> list[Maker]:
    """What makes the features that are asked for, in order; the kernels of others are not loaded."""
    makers: list[Maker] = []
    if edges is not None:
        from ouzel.streams.interactions.binning import Binner

        makers.append(Binner(options, edges))
    if options.derived.ngrams:
        from ouzel.streams.interactions.ngrams import NGrams

        makers.append(NGrams(options))
    if options.derived.crosses:
        from ouzel.streams.interactions.crosses import Crosser

        makers.append(Crosser(options))
    return makers
