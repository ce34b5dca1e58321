"""The derived features of a stream: bins and hinges, n-grams, crosses, in this order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from ouzel.errors import DataError, listed
from ouzel.streams.block import Block
from ouzel.streams.feature_specs import matches
from ouzel.streams.options import Options

if TYPE_CHECKING:
    from ouzel.streams.interactions.bin_edges import Edges
    from ouzel.streams.interactions.transform import Transform


class Deriver:
    """Adds the derived features of a stream's options to one block after the other.

    It shares the edges of bins with another deriver, which it is `like`.
    """

    def __init__(self, options: Options, like: Deriver | None = None) -> None:
        self.options = options
        self.derived = options.derived
        self._learnt = options.space.known
        self._edges: Edges | None = None
        if options.derived.of_numbers:
            from ouzel.streams.interactions.bin_edges import Edges

            self._edges = Edges(options) if like is None else like._edges
        self._transforms = _transforms_of(options, self._edges)
        self._fields: set[str] = set()  # seen so far

    def derive(self, blocks: Iterable[Block], whole: bool = True) -> Iterator[Block]:
        """The blocks with their derived features; very large ones in parts, unless they are to stay `whole`."""
        if self._edges is not None:
            blocks = self._edges.buffered(blocks)
        for block in blocks:
            yield from self.parts(block, whole) if self.derived else (block,)

    @property
    def edges(self) -> Mapping[str, tuple[float, ...]]:
        """The edges of bins and hinges by column, once they are known."""
        return {} if self._edges is None else self._edges.found

    def observe(self, block: Block) -> None:
        """Collect the numbers of a block that will be learnt, from which edges are computed."""
        if self._edges is not None:
            self._edges.observe(block)

    def fix(self) -> None:
        """Compute the edges from the numbers collected so far, however few."""
        if self._edges is not None and not self._edges.fixed:
            self._edges.fix()

    def emit_names_once(self) -> None:
        """Emit each name once only."""
        for transform in self._transforms:
            transform.emitted.once = True

    def reset_names(self) -> None:
        """Emit the names of derived features anew from the next block on."""
        for transform in self._transforms:
            transform.emitted.reset()

    def unknown(self, name: str) -> list[str]:
        """A line for people if options name fields that the stream did not have."""
        missing = [field for field in self.derived.fields if not any(matches(one, (field,)) for one in self._fields)]
        missing = [] if self.derived.ngrams and missing == ["*"] else missing
        there = f"; there are {listed(sorted(filter(str.strip, self._fields)))}" if self._fields else ""
        wants = f"has no column or namespace {listed(missing)}, of which {self.derived} are made"
        return [f"{name}: {wants}{there}"] if missing else []

    def parts(self, block: Block, whole: bool = False) -> Iterator[Block]:
        """A block with its derived features, in parts."""
        if block.interaction_inputs is None:
            if not block.rows or not block.space.known or block.space.derived == self.derived:
                yield block
            else:
                lacks = "this data has no columns or namespaces"
                if self._learnt:
                    raise DataError(f"the model was learnt with {self.derived}, and {lacks} to make them of")
                raise DataError(f"{lacks} to make {self.derived} of; leave them out")
            return
        self._fields.update(block.interaction_inputs.names)
        block = block._replace(space=block.space._replace(derived=self.derived, named=True, edges=self.edges))
        for part in self._transformed(block, self._transforms, whole):
            yield part._replace(interaction_inputs=None)

    def _transformed(self, block: Block, transforms: list[Transform], whole: bool) -> Iterator[Block]:
        """A block after some transforms, one after the other, in parts."""
        if not transforms:
            yield block
            return
        for part in transforms[0].parts(block, whole):
            yield from self._transformed(part, transforms[1:], whole)


def _transforms_of(options: Options, edges: Edges | None) -> list[Transform]:
    """The transforms that the options need, in order; the kernels of others are not imported."""
    transforms: list[Transform] = []
    if edges is not None:
        from ouzel.streams.interactions.binning import BinTransform

        transforms.append(BinTransform(options, edges))
    if options.derived.ngrams:
        from ouzel.streams.interactions.ngrams import NGramTransform

        transforms.append(NGramTransform(options))
    if options.derived.crosses:
        from ouzel.streams.interactions.crosses import CrossTransform

        transforms.append(CrossTransform(options))
    return transforms
