"""Settings of the whole suite."""

from hypothesis import settings

settings.register_profile("ouzel", deadline=None, derandomize=True)  # a first call compiles; a failure must repeat
settings.load_profile("ouzel")
