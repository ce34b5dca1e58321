"""`python -m ouzel` is `ouzel`."""

from ouzel.cli import main

main()
