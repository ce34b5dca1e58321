"""Simulated data sets of `ouzel demo --write`: for tasks that no data set of scikit-learn has."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Ids = NDArray[np.int64]

Columns = dict[str, list[Any]]
DAY = 48  # half-hours
KINDS = "groceries fuel clothes travel jewellery electronics restaurant games books health"
CITIES = "Athens Bergen Cork Dresden Exeter Faro Ghent Hanover Izmir Jena Kiel Lyon"
WORDS = 1_000_000  # ids that words of an address can have


class Simulation(NamedTuple):
    """A file, its label, and the function that makes its columns by a random generator."""

    file: str
    label: str | None
    make: Callable[[np.random.Generator], Columns]


def clicks(random: np.random.Generator, rows: int = 60_000) -> Columns:
    """Advertisements that users saw on sites, and whether they clicked. How good one is depends on the site.

    Users, advertisements and sites are numbers that are names. New users come all the time.
    """
    import numpy as np

    users, ads, sites, devices = rows // 10, 60, 40, np.array(["desktop", "phone", "tablet"])
    seen = 500 + np.arange(rows) * (users - 500) // rows
    user = (seen * (1 - random.random(rows) ** 2)).astype(int)
    ad, site = zipf(random, ads, rows), zipf(random, sites, rows)
    device = random.integers(0, 3, rows)
    margin = -1.8 + 0.7 * random.standard_normal(users)[user] + random.standard_normal(ads)[ad]
    margin += 0.7 * random.standard_normal(sites)[site] + np.array([0.3, 0.0, -0.3])[device]
    margin += 1.5 * random.standard_normal((ads, sites))[ad, site]
    clicked = random.random(rows) < 1 / (1 + np.exp(-margin))
    return {
        "second": np.cumsum(random.integers(1, 20, rows)).tolist(),
        "user_id": (1000 + random.permutation(users)[user]).tolist(),
        "ad_id": (100 + ad).tolist(),
        "site_id": (10 + site).tolist(),
        "device": devices[device].tolist(),
        "clicked": clicked.astype(int).tolist(),
    }


def prices(random: np.random.Generator, rows: int = 365 * DAY) -> Columns:
    """A year of an electricity market, every half-hour: demand, price, and whether the price is above its day's mean.

    Price levels wander, and some hours are extreme.
    """
    import numpy as np

    time = np.arange(rows)
    hour = time % DAY / 2
    weekend = time // DAY % 7 >= 5
    demand = 8000 - 1500 * np.cos(2 * np.pi * (hour - 4) / 24) - 500 * np.cos(4 * np.pi * (hour - 7) / 24)
    demand = demand * np.where(weekend, 0.9, 1.0) + 60 * _wander(random, rows, 0.98)
    level = 35 * np.exp(0.5 * np.sin(4 * np.pi * time / rows) + 0.04 * _wander(random, rows, 0.995))
    price = level * (demand / 8000) ** 2 * np.exp(0.05 * _wander(random, rows, 0.8))
    neighbour = 0.9 * price * np.exp(0.1 * random.standard_normal(rows))
    transfer = 8 * (price - neighbour) + 40 * random.standard_normal(rows)
    price = price * np.where(random.random(rows) < 0.002, 1 + 9 * random.random(rows), 1)  # extreme half-hours
    sums = np.concatenate([np.zeros(1), np.cumsum(price)])
    first = np.maximum(time - DAY, 0)
    mean = (sums[time] - sums[first]) / np.maximum(time - first, 1)
    return {
        "hour": hour.tolist(),
        "demand": demand.round().tolist(),
        "neighbour_price": neighbour.round(2).tolist(),
        "transfer": transfer.round().tolist(),
        "price": price.round(2).tolist(),
        "above_mean": (price > mean).astype(int).tolist(),
    }


def payments(random: np.random.Generator, rows: int = 60_000) -> Columns:
    """Payments, of which few are fraud: small tests of stolen cards at one shop, and large ones abroad at night."""
    import numpy as np

    kinds, cities = np.array(KINDS.split()), np.array(CITIES.split())
    usual = np.array([30, 45, 60, 300, 400, 250, 35, 20, 15, 50])
    shop = zipf(random, 400, rows)
    kind, city = random.integers(0, 10, 400)[shop], random.integers(0, 12, 400)[shop]
    hour = (8 + 12 * random.random(rows) + 3 * random.standard_normal(rows)).astype(int) % 24
    channel = np.where(random.random(rows) < np.where(kind >= 7, 0.6, 0.2), "online", "card")
    amount = usual[kind] * np.exp(0.6 * random.standard_normal(rows) + 0.3 * random.standard_normal(400)[shop])
    abroad = (random.random(rows) < 0.05).astype(int)
    draw = random.random(rows)
    tests, nights = draw < 0.001, draw > 0.9985
    shop, kind, channel = np.where(tests, 77, shop), np.where(tests, 7, kind), np.where(tests, "online", channel)
    city = np.where(tests, city[shop == 77][0], city)
    amount = np.where(tests, 1 + 2 * random.random(rows), np.where(nights, amount * 4, amount))
    hour = np.where(nights, random.integers(0, 6, rows), hour)
    abroad = np.where(nights, (random.random(rows) < 0.8).astype(int), abroad)
    return {
        "amount": amount.round(2).tolist(),
        "shop": [f"shop{number}" for number in shop.tolist()],
        "kind": kinds[kind].tolist(),
        "city": cities[city].tolist(),
        "channel": channel.tolist(),
        "hour": hour.tolist(),
        "abroad": abroad.tolist(),
        "fraud": (tests | nights).astype(int).tolist(),
    }


def addresses(random: np.random.Generator, rows: int = 6_000) -> Columns:
    """Addresses on the web as words by number, and whether they are malicious (1) or not (-1): svmlight."""
    import numpy as np

    ids = 1 + random.permutation(WORDS)[:40_000]
    malicious = random.random(rows) < 0.4
    lengths = random.integers(20, 60, rows)
    owner = np.repeat(np.arange(rows), lengths)
    word = 600 + zipf(random, 39_400, len(owner), 1.1)
    marked = random.random(len(owner)) < 0.12  # of words that one kind has more of, 300 each
    side = malicious[owner] ^ (random.random(len(owner)) < 0.15)
    word = np.where(marked, np.where(side, 0, 300) + zipf(random, 300, len(owner)), word)
    found = np.unique(owner * (WORDS + 1) + ids[word])
    cuts = np.searchsorted(found, np.arange(1, rows) * (WORDS + 1))
    words = [" ".join(f"{number}:1" for number in (line % (WORDS + 1)).tolist()) for line in np.split(found, cuts)]
    return {"label": np.where(malicious, 1, -1).tolist(), "words": words}


def monday(random: np.random.Generator) -> Columns:
    """Connections of a network on a day on which a machine makes its backup."""
    return _flows(random, ("10.0.0.12", "192.0.2.7", 873), 900)


def tuesday(random: np.random.Generator) -> Columns:
    """Connections of the same network on the next day: a machine reports to an address that was unknown before."""
    return _flows(random, ("10.0.0.46", "203.0.113.104", 6667), 1200)


def _flows(random: np.random.Generator, new: tuple[str, str, int], times: int, rows: int = 20_000) -> Columns:
    """Connections, each more or less frequent than on other days, and one that is new on this day."""
    import numpy as np

    network = np.random.default_rng(7)  # the same on all days
    ports, of = np.array([443, 443, 443, 80, 53, 993, 22]), 2_000
    source, target = network.integers(1, 61, of), network.integers(1, 251, of)
    shares = np.cumsum((np.arange(of) + 5.0) ** -0.8 * np.exp(random.standard_normal(of)))
    flow = np.searchsorted(shares, random.random(rows) * shares[-1])
    flow[random.permutation(rows)[:times]] = of
    return {
        "second": np.sort(random.integers(0, 86_400, rows)).tolist(),
        "source": np.array([*(f"10.0.0.{number}" for number in source.tolist()), new[0]])[flow].tolist(),
        "target": np.array([*(f"172.16.0.{number}" for number in target.tolist()), new[1]])[flow].tolist(),
        "port": np.append(ports[target % len(ports)], new[2])[flow].tolist(),
        "bytes": (200 * np.exp(1.5 * random.standard_normal(rows))).round().astype(int).tolist(),
    }


def zipf(random: np.random.Generator, of: int, rows: int, power: float = 1.0) -> Ids:
    """Numbers below `of`, the k-th with a probability of 1 / (k + 2)^power."""
    import numpy as np

    shares = np.cumsum((np.arange(of) + 2.0) ** -power)
    return np.searchsorted(shares, random.random(rows) * shares[-1])


def _wander(random: np.random.Generator, rows: int, memory: float) -> Numbers:
    """An autoregressive process that keeps this share of itself, driven by normal noise."""
    from scipy.signal import lfilter

    noise = random.standard_normal(rows)
    return lfilter([1.0], [1.0, -memory], noise)
