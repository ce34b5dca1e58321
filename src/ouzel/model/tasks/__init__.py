"""What a model does with labels: classes to tell apart, numbers to predict, or groups to rank; an object each."""
