"""Work done before it is asked for, in threads: reading and parsing go on while a model learns."""

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

AHEAD = 4  # items made before they are asked for
BLOCKS_AHEAD = 12  # blocks of a table, of which several are made at once
WORKERS = max(1, min(2, len(os.sched_getaffinity(0)))) if hasattr(os, "sched_getaffinity") else 2


def made_ahead(items: Iterator[Item], most: int = AHEAD, endless: bool = False) -> Generator[Item, None, None]:
    """Items in order, made in a thread; at most so many wait. An error comes in the place of the item it struck.

    Those that may keep one waiting for ever, as a pipe does, are `endless`: their thread is left behind when nobody
    asks any more. Any other ends first, for libraries do not survive an interpreter that ends before them.
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
                waiting.put_nowait(None)  # a thread may wait for more while the program ends

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
            waiting.get_nowait()  # the thread may wait for room
        if not endless and threading.current_thread() is not thread:
            thread.join()


def file_ahead(source: Source, items: Iterator[Item], most: int = AHEAD) -> Iterator[Item]:
    """What is made of a source, ahead if it is a file and there is a core to spare."""
    return items if source.size is None or WORKERS == 1 else made_ahead(items, most)


def mapped_ahead(function: Callable[[Item], Result], items: Iterator[Item], endless: bool) -> Iterator[Result]:
    """The function's results in order; one thread makes the items, others call the function."""
    pool = ThreadPoolExecutor(WORKERS, "ouzel-parse")
    results = made_ahead((pool.submit(function, item) for item in items), endless=endless)
    try:
        for result in results:
            yield result.result()
    finally:
        try:
            results.close()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
