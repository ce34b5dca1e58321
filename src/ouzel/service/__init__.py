"""A model over HTTP: it answers while it learns, and never forgets what it acknowledged.

Its dependencies come with `pip install ouzel[serve]`; only `ouzel serve`, `ouzel send` and `ouzel.Client` import it.
"""
