"""Learning spread over processes and machines: pure tasks in rounds, and the same bits whatever fails."""

from ouzel.distributed.training import train

__all__ = ["train"]
