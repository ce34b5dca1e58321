"""What workers have learnt beyond the base they began from, as parts that add up in any order."""
