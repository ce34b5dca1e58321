"""The dashboard, the alerts and the manifest in examples/service speak of what a service has."""

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("prometheus_client")
ROOT = Path(__file__).parents[2]
SERVICE = ROOT / "examples" / "service"


def test_the_dashboard_the_alerts_and_the_page_name_metrics_that_there_are():
    from ouzel.service.metrics import Metrics

    metrics = Metrics()
    metrics.requests.labels("GET", "/ready", "200").inc()
    metrics.seconds.labels("/ready").observe(0.1)
    kinds = {"counter": ["_total"], "histogram": ["", "_bucket", "_sum", "_count"], "gauge": [""]}
    known = {
        family.name + suffix
        for family in metrics.registry.collect()
        if family.name.startswith("ouzel_")
        for suffix in kinds[family.type]
    }
    sources = "".join(path.read_text() for path in (ROOT / "src" / "ouzel").glob("service/*.py"))
    page = ROOT / "docs" / "how-to" / "monitoring.md"

    for path in (SERVICE / "grafana.json", SERVICE / "alerts.yml", page):
        text = path.read_text().replace('\\"', '"')
        assert set(re.findall(r"\bouzel_\w+", text)) <= known, path
        figures = {name for some in re.findall(r'figure=~?"([\w|]+)"', text) for name in some.split("|")}
        assert figures
        assert {name for name in figures if f'"{name}"' not in sources} <= {"error_rate", "mean_loss", "baseline"}


def test_every_panel_of_the_dashboard_has_a_query_and_a_place_of_its_own():
    panels = json.loads((SERVICE / "grafana.json").read_text())["panels"]

    assert all(target["expr"] for panel in panels for target in panel["targets"])
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}
    assert len(places) == len({panel["id"] for panel in panels}) == len(panels)


def test_the_manifest_starts_one_writer_with_options_that_there_are():
    yaml = pytest.importorskip("yaml")
    import typer

    from ouzel.cli.app import application

    service, stateful = yaml.safe_load_all((SERVICE / "kubernetes.yaml").read_text())
    (container,) = stateful["spec"]["template"]["spec"]["containers"]
    serve = typer.main.get_command(application()).commands["serve"]
    known = {option for param in serve.params for option in param.opts}

    assert stateful["spec"]["replicas"] == 1
    assert service["spec"]["selector"] == stateful["spec"]["selector"]["matchLabels"]
    assert container["args"][:2] == ["ouzel", "serve"]
    assert {word for word in container["args"] if word.startswith("--")} <= known
