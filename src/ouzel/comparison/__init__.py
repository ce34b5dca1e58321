"""Many learners and settings side by side."""
