"""Messages as they come: learn from each after predicting it, as River does, and ask why."""

import ouzel

MESSAGES = [
    ("win a free prize now", True),
    ("lunch at noon?", False),
    ("free tickets, click now", True),
    ("see you at the meeting", False),
    ("claim your free prize", True),
    ("notes of the meeting at noon", False),
] * 20

model = ouzel.OnlineClassifier()
mistakes = 0
for text, spam in MESSAGES:
    words = {word.strip(",?"): 1.0 for word in text.split()}
    mistakes += model.predict_one(words) != spam
    model.learn_one(words, spam)

print(f"{mistakes} mistakes in {len(MESSAGES)} messages")
for word, weight in model.top_weights(3):
    print(f"{word:8} {weight:+.2f}")
