"""Figures that others have published, as they printed them."""

from __future__ import annotations

from typing import NamedTuple

CLASSES = ("Phishing", "Bananas", "Elec2", "SMTP", "ImageSegments", "Insects", "Keystroke")
NUMBERS = ("ChickWeights", "TrumpApproval")

PAGE_OF_CLASSES = """
Logistic regression               | .887200 .543208 .822144 .999769 -       -       -       | .421053
ALMA                              | .825600 .506415 .906427 .764986 -       -       -       | .00178548
sklearn SGDClassifier             | .889600 .546415 .819099 .999706 -       -       -       | .363636
Vowpal Wabbit logistic regression | .773600 .551321 .697475 .999695 -       -       -       | .121212
Naive Bayes                       | .884708 .615210 .728741 .993484 .731919 .506897 .652532 | .0490798
Hoeffding Tree                    | .879904 .642197 .795635 .999685 .776094 .537306 .648218 | 0
Hoeffding Adaptive Tree           | .874299 .616531 .821258 .999685 .774361 .613337 .723124 | 0
Adaptive Random Forest            | .907926 .886960 .876608 .999685 .818536 .745378 .969116 | 0
Aggregated Mondrian Forest        | .904724 .889413 .849904 .999863 .901689 .646981 .881073 | .734694
Streaming Random Patches          | .913531 .871674 .868884 .999685 .766999 .736163 .955929 | 0
k-Nearest Neighbors               | .881505 .885073 .853148 .999821 .873538 .713115 .910486 | .666667
ADWIN Bagging                     | .893515 .625967 .823773 .999685 .777826 .579465 .816560 | 0
AdaBoost                          | .878303 .677864 .880581 .999443 .804677 .563532 .834796 | .404494
Bagging                           | .893515 .634082 .840436 .999685 .776960 .606392 .669739 | 0
Leveraging Bagging                | .894315 .828269 .892653 .999674 .778259 .695858 .956616 | 0
Stacking                          | .895116 .876203 .885458 .999685 .867908 .754745 .975489 | 0
Voting                            | .896717 .872617 .843680 .999779 .806410 .648533 .779107 | .487805
[baseline] Last Class             | .515612 .509530 .853303 .999601 .148116 .289761 .997549 | .366667
"""
"""Accuracy of each model of the page on `CLASSES`, and its F1 on SMTP, where 30 of 95,156 are positive.

The page is docs/benchmarks of online-ml/river at 7468665.
"""

PAGE_OF_NUMBERS = """
Linear Regression                        |  23.7587  37.0377 |  1.31455   3.91198
Linear Regression with l1 regularization |  23.7577  37.0780 |  1.15377   3.82872
Linear Regression with l2 regularization |  25.2738  38.5885 |  1.87151   4.13052
Passive-Aggressive Regressor, mode 1     |  24.3423  37.5960 |  4.98403   6.97667
Passive-Aggressive Regressor, mode 2     | 100.6240 143.0660 | 31.09330  34.62570
k-Nearest Neighbors                      |  24.8406  39.2016 |  0.641679  1.59417
Hoeffding Tree                           |  23.1619  36.7336 |  0.956103  2.24987
Hoeffding Adaptive Tree                  |  23.3739  37.6579 |  0.921313  2.23942
Stochastic Gradient Tree                 |  68.7588  80.3580 |  9.42975  17.93790
Adaptive Random Forest                   |  26.1016  40.8094 |  0.800378  2.11495
Aggregated Mondrian Forest               |  25.6742  41.7123 |  0.268533  0.349421
Adaptive Model Rules                     |  24.1943  37.2166 |  1.39847   2.43336
Streaming Random Patches                 |  23.7097  38.4416 |  0.656697  1.98434
Bagging                                  |  23.1143  36.6311 |  0.908203  2.23718
Exponentially Weighted Average           | 121.8180 141.0040 | 40.75460  40.79050
River MLP                                |  51.4078  80.9203 |  1.58058   5.03392
[baseline] Mean predictor                |  50.2509  71.1144 |  1.56755   2.20286
"""
"""Mean absolute error and root mean square error of each model on `NUMBERS`."""


class Measure(NamedTuple):
    """One column of the page: a set and what is measured on it."""

    set_name: str
    figure: str  # accuracy, F1, MAE or RMSE

    @property
    def title(self) -> str:
        """The head of the column: accuracies are said by the table."""
        return self.set_name if self.figure == "accuracy" else f"{self.set_name} ({self.figure})"

    @property
    def greater_is_better(self) -> bool:
        """Return True for accuracy and F1, False for errors."""
        return self.figure in ("accuracy", "F1")


def page() -> dict[Measure, dict[str, float]]:
    """Return the columns of River's page: figures by model.

    >>> page()[Measure("Elec2", "accuracy")]["ALMA"], page()[Measure("ChickWeights", "RMSE")]["Bagging"]
    (0.906427, 36.6311)
    """
    found: dict[Measure, dict[str, float]] = {}
    for model, figures in _lines(PAGE_OF_CLASSES):
        measures = [*(Measure(name, "accuracy") for name in CLASSES), Measure("SMTP", "F1")]
        _put(found, measures, model, figures)
    for model, figures in _lines(PAGE_OF_NUMBERS):
        _put(found, [Measure(name, figure) for name in NUMBERS for figure in ("MAE", "RMSE")], model, figures)
    return found


def _put(found: dict[Measure, dict[str, float]], measures: list[Measure], model: str, figures: list[str]) -> None:
    for measure, figure in zip(measures, figures, strict=True):
        column = found.setdefault(measure, {})
        if figure != "-":
            column[model] = float(figure)


def _lines(text: str) -> list[tuple[str, list[str]]]:
    """Split each line into the model and its figures."""
    parts = (line.partition("|") for line in text.strip().splitlines())
    return [(model.strip(), rest.replace("|", " ").split()) for model, _, rest in parts]


class CapyMOA(NamedTuple):
    """A set of CapyMOA: the first `rows` examples of the electricity stream, six columns."""

    rows: int
    where: str
    accuracies: dict[str, float]


CAPYMOA = {
    "ElectricityTiny": CapyMOA(
        2_000,
        "tests/test_classifiers.py",
        {
            "no change": 0.8595,
            "SGD, logistic loss": 0.8575,
            "passive-aggressive": 0.8470,
            "k-nearest neighbours": 0.8160,
            "adaptive random forest": 0.8900,
            "OzaBoost": 0.8995,
            "streaming random patches": 0.9020,
            "DEMS": 0.9270,
        },
    ),
    "Electricity": CapyMOA(
        45_312,
        "notebooks 00, 01, 05 and 08",
        {
            "Hoeffding tree": 0.8166,
            "Hoeffding adaptive tree": 0.8469,
            "bagged SGD": 0.8245,
            "adaptive random forest": 0.8933,
        },
    ),
}
"""Accuracies that CapyMOA's tests assert and its notebooks print."""

ONE_AGAINST_ALL = {
    "wine": 0.270,
    "iris": 0.387,
    "segment": 0.178,
    "heart": 0.252,
    "diabetes": 0.329,
    "australian": 0.145,
    "pendigits": 0.1380,
    "satimage": 0.1922,
    "mnist": 0.0983,
    "electricity": 0.2519,
    "covtype.binary": 0.2608,
    "vehicle_sensIT": 0.1469,
    "MagicTelescope": 0.2156,
    "KDDCup99": 0.0052,
    "letter": 0.4595,
    "codrnaNorm": 0.0512,
    "ionosphere": 0.1852,
    "splice": 0.1260,
    "covertype": 0.2951,
    "isolet": 0.1404,
    "spambase": 0.0900,
    "nomao": 0.0695,
    "pokerhand": 0.4352,
    "airlines": 0.4049,
}
"""Error of Vowpal Wabbit's `--oaa` in one pass over shuffled examples of OpenML: oaa_loss.txt of albietz/cb_bakeoff."""
