"""Ouzel beside scikit-learn: hashed text, a pipeline, a grid search."""

from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import ouzel

texts = ["cheap pills today", "minutes of the meeting", "cheap watches", "the meeting is today"] * 25
spam = [True, False, True, False] * 25

pipeline = make_pipeline(HashingVectorizer(n_features=2**16), ouzel.OnlineClassifier("adagrad"))
search = GridSearchCV(pipeline, {"onlineclassifier__l1": [0.0, 1e-4]}, cv=3).fit(texts, spam)

print(f"accuracy {search.best_score_:.2f}")
print(search.predict(["cheap meeting pills"]))
