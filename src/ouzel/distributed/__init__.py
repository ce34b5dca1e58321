"""Distributed training over processes and machines: pure tasks in rounds, with the same bits whatever fails."""

from ouzel.distributed.training import train

__all__ = ["train"]
