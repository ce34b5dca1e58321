"""The default learner, `classification.py`: several models side by side, weighed by a last one (`mixing.py`).

Numbers are learnt by `regression.py`; ranking, and losses other than the logistic one, by `other_losses.py`.
"""
