"""The default learner, `classification.py`: several models side by side, weighed by a last one (`mixing.py`).

Numbers are learnt by `regression.py`, and by other losses than the squared one by `other_numbers.py`; pairs to
rank by `ranking.py`.
"""
