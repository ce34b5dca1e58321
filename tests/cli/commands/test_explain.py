"""`ouzel explain` tells what outliers have in common, from any table, and says plainly what is wrong."""

import re

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest


@pytest.fixture
def table(tmp_path):
    """Expenses: fundraising is dear, travel is not; and what is dear is marked in further columns."""
    random = np.random.default_rng(0)
    lines = ["purpose,state,amount,dear,label"]
    for _ in range(3000):
        purpose = random.choice(["FUNDRAISING", "TRAVEL", "PHONE", "RENT"])
        amount = random.lognormal(6 + 2 * (purpose == "FUNDRAISING") - 2 * (purpose == "TRAVEL"), 1)
        dear = amount > 1000
        lines.append(f"{purpose},{random.choice(['CA', 'NY', ''])},{amount:.2f},{'yes' if dear else 'no'},{int(dear)}")
    path = tmp_path / "expenses.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    "which",
    [
        ["--outlier", "amount > 1000"],
        ["--outlier-column", "dear"],
        ["--outlier-column", "dear", "--label-positive", "yes"],
        ["--label", "label"],
        ["--outlier", "dear = yes"],
    ],
)
def test_all_ways_to_say_what_an_outlier_is_agree(ouzel, table, which):
    answer = ouzel("explain", table, *which, "--attributes", "purpose,state", "--exact", "--json").json

    assert answer["attributes"][0]["attribute"] == "purpose=FUNDRAISING"
    assert answer["attributes"][0]["rows"] == pytest.approx(750, abs=80)
    assert answer["rows"] == 3000
    assert answer["outliers"] == pytest.approx(900, abs=150)
    assert {row["attribute"] for row in answer["attributes"]} <= {"purpose=FUNDRAISING", "state=CA", "state=NY"}


def test_a_quantile_makes_the_share_of_outliers_it_says(ouzel, table):
    answer = ouzel(
        "explain", table, "--outlier", "amount > p90", "--ignore", "dear", "--ignore", "label", "--json"
    ).json

    assert 0.08 < answer["outliers"] / answer["rows"] < 0.13
    assert answer["attributes"][0]["attribute"] == "purpose=FUNDRAISING"


def test_the_answer_is_a_table_a_picture_and_a_model(ouzel, table, tmp_path):
    arguments = ["explain", table, "--outlier", "amount > 1000", "--attributes", "purpose,state", "--exact"]
    shown = ouzel(*arguments, "--order", "2", "--side", "both", "--plot", tmp_path / "p.png", "--model", tmp_path / "m")

    assert re.search(r"purpose=TRAVEL *$", shown.out, re.MULTILINE)
    assert "& state=CA" in shown.out
    assert "3,000 rows" in shown.out
    assert "correlation of log risks with true ones" in shown.out
    assert (tmp_path / "p.png").stat().st_size > 5000
    assert "purpose=FUNDRAISING" in ouzel("top", tmp_path / "m").out


def test_risks_are_shown_with_their_interval_and_the_row_from_which_on_they_were_counted(ouzel, table):
    arguments = ["explain", table, "--outlier", "amount > 1000", "--ignore", "dear", "--ignore", "label", "--exact"]
    shown, scarce = (ouzel(*arguments, "--budget", budget) for budget in ("1MB", "400"))
    answer = ouzel(*arguments, "--budget", "400", "--json").json

    assert re.search(r"^risk +interval +support +counted since row +true risk +rows +outliers +attribute", shown.out)
    assert re.search(r"exact +\d+ +\d+ .*purpose=FUNDRAISING", shown.out)
    assert re.search(r"true risk from +attributes +recall\n +2 +\d+ +1.000", shown.out)
    assert "more are not ranked" not in shown.out
    assert re.search(r"more are not ranked|exact", scarce.out)
    for row in answer["attributes"]:
        assert row["risk_low"] <= row["risk"] <= row["risk_high"]
        assert row["risk_low"] <= row["true_risk"] <= row["risk_high"]
        assert row["support"] <= row["rows"] <= row["support"] + row["missed"]
        assert row["since"] >= 1
    assert answer["recall"][0]["attributes"] >= 1


def test_sparse_rows_are_explained_by_their_features(ouzel, tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("+1 3:1 7:1\n-1 4:1 7:1\n" * 200)

    answer = ouzel("explain", path, "--json").json

    assert answer["attributes"][0]["attribute"] == "3"


def test_rows_that_cannot_be_told_are_left_out_and_counted(ouzel, tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("kind,amount\n" + "a,5\nb,\nc,much\n" * 10)

    answer = ouzel("explain", path, "--outlier", "amount > 1", "--on-error", "skip", "--json").json

    assert (answer["rows"], answer["left_out"]) == (10, 20)


def test_columns_that_are_neither_numbers_nor_text_or_number_the_rows_can_be_left_out(ouzel, tmp_path):
    table = {"kind": ["a", "b"] * 50, "amount": [7, 1] * 50, "list": [[1]] * 100, "": range(100)}
    path = tmp_path / "some.parquet"
    pyarrow.parquet.write_table(pyarrow.table(table), path)

    refused = ouzel("explain", path, "--outlier", "amount > 5")
    answer = ouzel("explain", path, "--outlier", "amount > 5", "--ignore", "list", "--side", "both", "--json").json

    assert "column 'list' holds list<element: int64>, which is neither number nor text" in refused.err
    assert {row["attribute"] for row in answer["attributes"]} == {"kind=a", "kind=b"}


BAD = {
    "no rule": (["FILE"], "which rows are outliers"),
    "two rules": (["FILE", "--outlier", "amount > 1", "--label", "label"], "exclude one another"),
    "no condition": (["FILE", "--outlier", "amount"], "a condition is COLUMN > VALUE"),
    "a condition on what is not a number": (["FILE", "--outlier", "amount > nan"], "expected a finite number"),
    "a condition on words": (["FILE", "--outlier", "amount > much"], "expected a number, or a quantile"),
    "another column": (["FILE", "--outlier", "cost > 5"], "has no column 'cost'; its columns are purpose"),
    "words for numbers": (
        ["FILE", "--outlier", "purpose > 5"],
        "row 1, column 'purpose': found '[A-Z]+'; expected a number",
    ),
    "no truth": (["FILE", "--outlier-column", "purpose"], "expected 0 or 1.*--label-positive"),
    "another attribute": (["FILE", "--outlier", "amount > 5", "--attributes", "colour"], "has no column 'colour'"),
    "another column to ignore": (["FILE", "--outlier", "amount > 5", "--ignore", "colour"], "has no column 'colour'"),
    "an order of three": (["FILE", "--outlier", "amount > 5", "--order", "3"], "order must be .* from 1 to 2; got 3"),
    "no side": (["FILE", "--outlier", "amount > 5", "--side", "left"], "--side takes high, low, both; got 'left'"),
    "too small a budget": (["FILE", "--outlier", "amount > 5", "--budget", "8"], "budget must be"),
    "no such file": (["absent.csv", "--outlier", "amount > 5"], "there is no such file"),
    "a condition on sparse rows": (["SPARSE", "--outlier", "amount > 5"], "which has no columns"),
    "nothing to explain by": (["ALONE", "--outlier", "amount > 5"], "has no column beside 'amount'"),
    "a header alone": (["HEADER", "--outlier", "amount > 5"], "there are no rows"),
    "negative": (["FILE", "--outlier", "amount > 5", "--min-support", "-1"], "--min-support must be .* got -1"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_is_one_line(ouzel, table, tmp_path, monkeypatch, kind):
    arguments, pattern = BAD[kind]
    files = {"FILE": table, "SPARSE": tmp_path / "a.svm", "ALONE": tmp_path / "b.csv", "HEADER": tmp_path / "c.csv"}
    files["SPARSE"].write_text("+1 3:1\n")
    files["ALONE"].write_text("amount\n7\n")
    files["HEADER"].write_text("purpose,amount\n")
    monkeypatch.chdir(tmp_path)

    ran = ouzel("explain", *[files.get(argument, argument) for argument in arguments])

    assert (ran.status, ran.out) == (2, "")
    assert re.search(pattern, ran.err)
    assert len([line for line in ran.err.splitlines() if "compiling" not in line]) == 1, ran.err


def test_attributes_of_so_few_rows_that_chance_explains_them_are_not_listed_unless_asked_for(ouzel, tmp_path):
    random = np.random.default_rng(0)
    outliers = random.random(6000) < 0.25
    towns, kinds = random.integers(0, 5000, 6000), np.where(random.random(6000) < 0.5, "a", "b")
    kinds[random.random(6000) < np.where(outliers, 0.2, 0.1)] = "c"
    lines = [f"{town},{kind},{int(far)}" for town, kind, far in zip(towns, kinds, outliers, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["town,kind,far", *lines]))
    arguments = ["explain", tmp_path / "t.csv", "--outlier-column", "far"]

    usual, all_of_them = ouzel(*arguments, "--json").json, ouzel(*arguments, "--min-support", "1", "--json").json
    shown = ouzel(*arguments).out

    assert usual["attributes"][0]["attribute"] == "kind=c"
    assert all(row["support"] >= 8 for row in usual["attributes"])
    assert all_of_them["attributes"][0]["support"] <= 6
    assert re.search(r"attributes of (8|9) rows or more$", shown, re.MULTILINE)


def test_a_label_whose_values_are_all_above_0_is_asked_about_and_near_unique_columns_are_named(ouzel, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,kind,y\n" + "".join(f"{k},{'ab'[k % 2]},{1 + k % 3}\n" for k in range(300)))

    refused = ouzel("explain", path, "--label", "y")
    found = ouzel("explain", path, "--label", "y", "--label-positive", "3")

    assert refused.status == 2
    assert "every value of 'y' is above 0 (1, 2, 3)" in refused.err
    assert "--label-positive" in refused.err
    assert "id has 300 values in the first 300 rows" in found.out.replace("\n", " ")
