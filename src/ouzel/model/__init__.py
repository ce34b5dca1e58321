"""A learner at work on a stream: its settings, labels, states, answers and files."""
