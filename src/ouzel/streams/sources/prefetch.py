"""Prefetching in threads: reading and parsing continue while a model learns."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from ouzel.streams.sources.source import Source

Item = TypeVar("Item")
Result = TypeVar("Result")

ITEMS_AHEAD = 4  # items that are prefetched
BLOCKS_AHEAD = 12  # blocks of a table, several of which are made at once
WORKERS = max(1, min(2, len(os.sched_getaffinity(0)))) if hasattr(os, "sched_getaffinity") else 2


def prefetch(items: Iterator[Item], most: int = ITEMS_AHEAD, endless: bool = False) -> Generator[Item, None, None]:
    """Prefetch items in a thread, in order, at most `most` of them. An error is raised in the place of its item.

    Items that may never arrive, such as those of a pipe, are `endless`: closing leaves their thread behind. Any other
    thread is joined first: libraries crash if the interpreter ends before their threads.
    """
    waiting: queue.Queue[tuple[Item] | BaseException | None] = queue.Queue(most)
    stopped = threading.Event()

    def put(item: tuple[Item] | BaseException | None) -> None:
        while not stopped.is_set() and threading.main_thread().is_alive():
            try:
                return waiting.put(item, timeout=0.1)
            except queue.Full:
                continue

    def make() -> None:
        try:
            for item in items:
                put((item,))
                if stopped.is_set() or not threading.main_thread().is_alive():
                    return
            put(None)
        except BaseException as error:
            put(error)
        finally:
            if isinstance(items, Generator):
                items.close()
            with suppress(queue.Full):
                waiting.put_nowait(None)  # the consumer may wait while the program ends

    thread = threading.Thread(target=make, name="ouzel-read", daemon=endless)
    thread.start()
    try:
        while (item := waiting.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item[0]
    finally:
        stopped.set()
        with suppress(queue.Empty):
            waiting.get_nowait()  # the thread may wait for a free slot
        if not endless and threading.current_thread() is not thread:
            thread.join()


def prefetch_file(source: Source, items: Iterator[Item], most: int = ITEMS_AHEAD) -> Iterator[Item]:
    """Prefetch the items of a source if it is a file and there is a second core."""
    return items if source.size is None or WORKERS == 1 else prefetch(items, most)


def prefetch_map(function: Callable[[Item], Result], items: Iterator[Item], endless: bool) -> Iterator[Result]:
    """Map a function over items in threads, in order; one thread makes the items."""
    pool = ThreadPoolExecutor(WORKERS, "ouzel-parse")
    results = prefetch((pool.submit(function, item) for item in items), endless=endless)
    try:
        for result in results:
            yield result.result()
    finally:
        try:
            results.close()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
