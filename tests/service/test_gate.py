"""Who may do what, and how much of it."""

import json

import pytest

from ouzel.errors import OuzelError
from ouzel.service.endpoint import MODEL
from ouzel.service.limits import ServiceLimits, limits_of
from ouzel.service.routes import ENDPOINTS
from ouzel.service.server import Place, logger
from ouzel.service.tokens import Tokens, make_token, read_token

LINES = {"Content-Type": "application/x-ndjson"}


@pytest.fixture
def guarded(start):
    """A service with three tokens, and the headers of each."""
    made = {scope: make_token(scope, [scope]) for scope in ("predict", "learn", "admin")}
    client = start(tokens=Tokens.parse("\n".join(line for _, line in made.values())))
    return client, {scope: {"Authorization": f"Bearer {token}"} for scope, (token, _) in made.items()}


def test_nothing_is_read_or_learnt_without_a_token(guarded):
    client, _ = guarded
    for method, path in [(kind.method, path) for kind in ENDPOINTS if kind.scope for path in kind.paths]:
        path = path.replace(MODEL, "model")
        wrong = {"Authorization": "Bearer ouzel_wrong"}
        assert client.request(method, path, json={"label": 1}).status_code == 401
        assert client.request(method, path, json={"label": 1}, headers=wrong).status_code == 401
    assert client.get("/health").status_code == 200


def test_a_wrong_token_and_none_are_answered_alike(guarded):
    client, _ = guarded
    tries = [{}, {"Authorization": "Bearer x"}, {"Authorization": "Basic x"}, {"Authorization": "Bearer"}]

    assert len({client.get("/v1/model", headers=headers).text for headers in tries}) == 1


def test_a_token_does_what_its_scopes_say(guarded):
    client, headers = guarded
    example = {"label": 1, "x": 1}

    assert client.post("/v1/learn", json=example, headers=headers["learn"]).status_code == 200
    assert client.post("/v1/learn", json=example, headers=headers["predict"]).status_code == 403
    assert client.post("/v1/predict", json=example, headers=headers["predict"]).status_code == 200
    assert client.post("/v1/predict", json=example, headers=headers["learn"]).status_code == 403
    assert client.get("/v1/log", headers=headers["admin"]).status_code == 200
    assert client.get("/v1/log", headers=headers["learn"]).status_code == 403


def test_the_file_of_tokens_holds_no_token():
    token, line = make_token("till", ["predict"])

    assert token not in line
    assert Tokens.parse(f"# a comment\n\n{line}\n").scopes_of(token) == {"predict"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no token"),
        ("a predict", "tokens:1: expected a name, scopes and a hash"),
        ("\na fly " + "0" * 64, "tokens:2: there is no scope 'fly'"),
        ("a predict 12", "tokens:1: the hash is not 64 hexadecimal digits"),
    ],
)
def test_a_bad_file_of_tokens_is_refused_with_the_line(text, said):
    with pytest.raises(OuzelError, match=said):
        Tokens.parse(text)


def test_other_machines_are_not_let_in_without_tokens(tmp_path):
    with pytest.raises(OuzelError, match="lets other machines in: give --tokens FILE"):
        Place(host="0.0.0.0").check()
    for host in ("127.0.0.1", "localhost", "::1"):
        assert Place(host=host).check() is None
    with pytest.raises(OuzelError, match="both --certificate and --key"):
        Place(certificate="a.pem").check()


def test_other_sites_cannot_ask_a_service_without_tokens(client):
    example = b'{"label": 1, "x": 1}'
    by_form = client.post("/v1/learn", content=example, headers={"Content-Type": "text/plain"})
    by_name = client.post("/v1/learn", json={"label": 1}, headers={"Host": "evil.example"})

    assert (by_form.status_code, by_name.status_code) == (415, 421)
    assert client.post("/v1/learn", content=example).status_code == 415


OTHERS = (
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://localhost:3000"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site", "Content-Type": "text/plain"},
)


def test_a_page_of_another_site_changes_nothing(start):
    client = start(names=("model", "next"), shadow=True)
    client.post("/v1/learn", json=[{"label": k % 2, "x": k} for k in range(4)])
    client.post("/v1/predict", json={"_id": "order-7", "x": 1})
    tensors = {"inputs": [{"name": "x", "shape": [1], "datatype": "FP32", "data": [1]}]}
    for headers in OTHERS:
        for path, body in (
            ("/v1/learn", {"label": 1, "x": 1}),
            ("/v1/label", {"id": "order-7", "label": 1}),
            ("/v1/predict", {"_id": "order-8", "x": 1}),
            ("/v1/explain", {"x": 1}),
            ("/v1/snapshot", None),
            ("/v1/models/model/snapshot", None),
            ("/v1/models/next/promote", None),
            ("/v2/models/model/infer", tensors),
        ):
            response = client.post(path, json=body, headers=headers)
            assert (response.status_code, "another site" in response.text) == (403, True), (path, headers)
    status = client.get("/v1/model").json()

    assert (status["examples"], status["waiting_for_labels"]) == (4, 1)
    assert [entry["first"] for entry in client.get("/v1/models").json()] == [True, False]


def test_a_token_does_not_open_the_gate_to_another_site(guarded):
    client, headers = guarded
    response = client.post("/v1/snapshot", headers={**headers["admin"], "Origin": "https://evil.example"})

    assert response.status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://localhost"},
        {"Origin": "http://LocalHost:80"},
        {"Origin": "http://localhost:8000", "Host": "LOCALHOST:8000"},
        {"Origin": "http://[::1]", "Host": "[::1]:80"},
        {"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost"},
        {"Sec-Fetch-Site": "same-origin", "Origin": "https://shop.example"},  # a proxy that asks for localhost
        {"Sec-Fetch-Site": "none"},
    ],
)
def test_the_page_of_the_service_itself_may_ask(client, headers):
    assert client.post("/v1/learn", json={"label": 1, "x": 1}, headers=headers).status_code == 200


def test_a_link_on_another_site_leads_to_the_page(client):
    assert client.get("/", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}).status_code == 200


@pytest.mark.parametrize("path", ["/v1/label", "/v1/explain", "/v2/models/model/infer"])
def test_what_takes_json_alone_says_so(client, path):
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/x-ndjson"):
        assert client.post(path, content=b"{}", headers={"Content-Type": kind}).status_code == 415


@pytest.mark.parametrize("host", ["LOCALHOST", "LocalHost:8000", "[::1]", "[::1]:8000", "127.0.0.1", "127.0.0.2:1"])
def test_this_machine_is_answered_by_each_of_its_names(client, host):
    assert client.get("/v1/model", headers={"Host": host}).status_code == 200


OTHER_HOSTS = ["evil.example", "localhost.evil.example", "[::2]", "127.0.0.1.evil.example:80", ""]
OTHER_HOSTS += ["localhost:8000@evil.example", "localhost:8000, evil.example", "localhost:http", "a@localhost"]
OTHER_HOSTS += [
    "localhost, localhost",
    "localhost:-1",
    "localhost:8000/evil.example",
    "localhost:8000#",
    "localhost:1:2",
]


@pytest.mark.parametrize("host", OTHER_HOSTS)
def test_no_other_name_is(client, host):
    assert client.get("/v1/model", headers={"Host": host}).status_code == 421


def test_a_request_with_two_hosts_is_refused(client):
    assert client.get("/v1/model", headers=[("Host", "localhost"), ("Host", "localhost")]).status_code == 421


def test_headers_keep_browsers_safe(client):
    headers = client.get("/health").headers

    assert headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "server" not in headers


def test_a_body_a_line_and_an_example_have_limits(start):
    client = start(limits=ServiceLimits(body=1000, line=100, features=3, largest_id=1000))
    large = {"label": 1, **{f"a{k}": 1 for k in range(4)}}

    assert client.post("/v1/learn", json={"label": 1, "x": "y" * 2000}).status_code == 413
    assert "100" in client.post("/v1/learn", json={"label": 1, "x": "y" * 200}).json()["detail"]
    assert "4 features" in client.post("/v1/learn", json=large).json()["detail"]
    assert "feature 4000000" in client.post("/v1/learn", json={"label": 1, "4000000": 1}).json()["detail"]
    assert client.post("/v1/learn", json={"label": 1, "1000": 1}).status_code == 200


@pytest.mark.parametrize("kind", ["application/x-ndjson", "application/json"])
def test_a_request_to_predict_has_a_limited_number_of_examples(start, kind):
    client = start(limits=ServiceLimits(examples=20))

    def predict(count):
        text = b"{}\n" * count if "nd" in kind else b"[" + b",".join([b"{}"] * count) + b"]"
        return client.post("/v1/predict", content=text, headers={"Content-Type": kind})

    assert predict(20).status_code == 200
    for count in (21, 300_000):
        refused = predict(count)
        assert refused.status_code == 413
        assert "expected at most 20 in a request" in refused.json()["detail"]


def test_a_line_beyond_the_limit_is_passed_over_whatever_its_length(start):
    client = start(limits=ServiceLimits(body=1000, line=100))
    body = b'{"label": 1, "x": 1}\n{"label": 1, "x": "' + b"y" * 300_000 + b'"}\n{"label": 0, "x": 2}\n'
    *said, last = [json.loads(line) for line in client.post("/v1/learn", content=body, headers=LINES).text.splitlines()]

    assert [entry["line"] for entry in said] == [1, 2, 3]
    assert "error" in said[1]
    assert (last["summary"]["learnt"], last["summary"]["refused"]) == (2, 1)


def test_the_name_of_a_class_has_a_limit(start):
    client = start(limits=ServiceLimits(line=4 << 20))
    for size in (5000, 1 << 20, 3 << 20):
        label = "a" * size
        single = client.post("/v1/learn", json={"label": label, "x": 1})
        several = client.post("/v1/learn", content=b'{"label": "%s", "x": 1}\n' % label.encode() * 2, headers=LINES)
        client.post("/v1/predict", json={"_id": "late", "x": 1})
        late = client.post("/v1/label", json={"id": "late", "label": label})

        assert (single.status_code, late.status_code) == (422, 422)
        for said in (single.json()["detail"], late.json()["detail"], json.loads(several.text.splitlines()[0])["error"]):
            assert "of at most" in said
            assert "\n" not in said
            assert len(said) < 600
    assert client.get("/v1/model").json()["examples"] == 0


def test_a_full_queue_says_when_to_come_again(start):
    client = start(limits=ServiceLimits(queue=2))
    response = client.post("/v1/learn", json=[{"label": 1, "x": 1}] * 3)

    assert (response.status_code, response.headers["retry-after"]) == (429, "1")
    assert client.post("/v1/learn", json=[{"label": 1, "x": 1}] * 2).status_code == 200


def test_the_quarantine_keeps_the_last_and_no_more(start):
    client = start(limits=ServiceLimits(quarantine=3))
    client.post("/v1/learn", content=b"\n".join(b"bad %d" % k for k in range(10)), headers=LINES)

    assert [entry["line"] for entry in client.get("/v1/quarantine").json()] == ["bad 9", "bad 8", "bad 7"]


def test_limits_are_given_by_name_and_size():
    assert limits_of(["body=2MB", "seconds=1.5", "queue=7"]) == ServiceLimits(body=2 << 20, seconds=1.5, queue=7)
    for bad in ("size=1", "body=0", "body=x", "body"):
        with pytest.raises(OuzelError, match="--limit"):
            limits_of([bad])


def test_the_log_is_lines_of_json_or_text_and_holds_no_features(capsys):
    logger("json").info("request", route="/v1/learn", status=200)
    assert json.loads(capsys.readouterr().err)["route"] == "/v1/learn"
    logger("none").info("request")
    assert capsys.readouterr().err == ""
    with pytest.raises(OuzelError, match="--log takes text, json, none"):
        logger("xml")


def test_a_mistake_of_our_own_stops_learning_and_not_answering(client, monkeypatch):
    served = next(iter(client.app.app.service.models.values()))
    monkeypatch.setattr(served.owner, "learn_block", lambda *_: 1 / 0)

    assert client.post("/v1/learn", json={"label": 1, "x": 1}).status_code == 503
    assert "start it again" in client.get("/ready").json()["failures"]["model"]
    assert client.post("/v1/predict", json={"x": 1}).status_code == 200
    assert client.get("/health").status_code == 200


@pytest.mark.parametrize("text", ["", "till predict,learn 1e5b81e2\n", "one\ntwo\n", "tökén"])
def test_a_file_that_holds_no_single_token_is_refused_before_anything_is_sent(tmp_path, text):
    (tmp_path / "tokens").write_text(text)

    with pytest.raises(OuzelError, match="tokens: expected one token, which `ouzel serve --new-token NAME` shows once"):
        read_token(str(tmp_path / "tokens"))


def test_a_wrong_path_or_method_is_told_what_there_is(start):
    client = start()

    assert client.get("/predict").json()["detail"] == "there is no path '/predict'; /openapi.json lists all"
    assert client.get("/v1/learn").json()["detail"] == "/v1/learn takes POST; got GET"
