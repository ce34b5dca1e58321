"""The record: what the program reads, learns, writes and says, as digests that a later checkout is compared with."""
