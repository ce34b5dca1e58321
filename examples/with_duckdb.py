"""A model in SQL: its weights as a table, and margins as a sum over a join."""

import csv
import tempfile
from pathlib import Path

import duckdb

import ouzel
from ouzel.cli.app import run

folder = Path(tempfile.mkdtemp())
orders = [("Rome", 12.0, "no"), ("Oslo", 80.0, "yes"), ("Rome", 75.0, "yes"), ("Oslo", 9.0, "no")] * 25
with (folder / "orders.csv").open("w", newline="") as file:
    csv.writer(file).writerows([("city", "price", "label"), *orders])
model = ouzel.OnlineClassifier("adagrad")
for city, price, label in orders:
    model.learn_one({"city": city, "price": price}, label)
model.save(folder / "m")
run(["top", f"{folder}/m", "--all", "-o", f"{folder}/weights.parquet"])  # ouzel top m --all -o weights.parquet

margins = duckdb.sql(f"""
    WITH orders AS (SELECT row_number() OVER () AS id, * FROM '{folder}/orders.csv'),
    features AS (
        SELECT id, 'city=' || city AS feature, 1.0 AS value FROM orders
        UNION ALL SELECT id, 'price', price FROM orders
        UNION ALL SELECT id, '(intercept)', 1.0 FROM orders
    )
    SELECT id, sum(value * weight) AS margin
    FROM features JOIN '{folder}/weights.parquet' USING (feature) GROUP BY id ORDER BY id LIMIT 4
""").fetchall()
for (number, margin), (city, price, _) in zip(margins, orders, strict=False):
    told = model.predict_one({"city": city, "price": price})
    print(f"{number}: margin {margin:+.4f}, so {'yes' if margin > 0 else 'no'}; the model says {told}")
