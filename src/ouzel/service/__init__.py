"""A model as a service: it answers while it learns, and never forgets what it acknowledged.

What it needs beside the library comes with `pip install ouzel[serve]`; nothing outside this room imports it.
"""
