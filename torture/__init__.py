"""The attack on Ouzel that stays: kills, fuzzers and extreme numbers, for as long as one cares to wait.

`make torture MINUTES=10` runs it; `python -m torture --help` tells the rest. It is not part of the package.

An input is known by its name, `target:12.944`: the seed that made it and those of each mutation since. The name alone
makes the input again, so that `python -m torture replay NAME` repeats a failure.
"""
