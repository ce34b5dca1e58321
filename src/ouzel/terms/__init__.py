"""What is minimised: losses, penalties and step sizes, each a NamedTuple of its parameters."""
