"""The formats of examples: what each is called, how it is recognised, what reads and writes it."""
