"""The default learner: several models side by side, stacked."""
