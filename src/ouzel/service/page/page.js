// What a service is at: figures every second by server-sent events, all else by asking for it now and then.

import { bar, bytes, chart, element, none, number, replace, share, square, table, whole } from "./draw.js";

const EVERY = 5000; // milliseconds between two questions
const byId = (id) => document.getElementById(id);
let token = sessionStorage.getItem("token") ?? "";
let model = "";
let chosen = false; // whether somebody chose the model; else it is the first
let before = new Map(); // effects by feature, of the question before
let asked = null; // what ends the stream of events

class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

const path = (name) => `/v1/models/${encodeURIComponent(model)}/${name}`;

async function ask(url, options = {}) {
  const headers = { ...options.headers, ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  const response = await fetch(url, { ...options, headers });
  if (!response.ok) {
    const problem = await response.json().catch(() => ({}));
    throw new Refused(response.status, problem.detail ?? response.statusText);
  }
  return response;
}

const json = async (url, options) => (await ask(url, options)).json();

function trouble(text) {
  byId("trouble").hidden = !text;
  byId("trouble").textContent = text ?? "";
}

function live(state, text) {
  byId("status").className = state;
  byId("status").textContent = text;
}

function tile(name, value, key) {
  return element("div", { class: "tile", "data-figure": key }, element("b", {}, value), element("span", {}, name));
}

function showFigures(now) {
  const tiles = [tile("examples", whole(now.examples), "examples")];
  if (now.error_rate != null) tiles.push(tile("error rate", share(now.error_rate), "error_rate"));
  if (now.baseline != null) {
    const classes = now.error_rate != null;
    tiles.push(tile("baseline", classes ? share(now.baseline) : number(now.baseline), "baseline"));
  }
  tiles.push(
    tile("mean loss", number(now.mean_loss), "mean_loss"),
    tile("examples / s", number(now.rates.examples), "examples_rate"),
    tile("requests / s", number(now.rates.requests), "requests_rate"),
    tile("no label yet", whole(now.waiting_for_labels), "waiting_for_labels"),
    tile("in the queue", whole(now.queue), "queue"),
    tile("model size", bytes(now.bytes), "bytes"),
  );
  replace("tiles", ...tiles);
  showFeeds(now.feeds);
  trouble(now.failure);
  const rows = Object.entries(now.latency).filter(([route]) => route !== "other").map(([route, ms]) => [route, ...["p50", "p90", "p99"].map((p) => ms[p].toFixed(1))]);
  const headings = [{ name: "route" }, ...["half", "90 %", "99 %"].map((name) => ({ name: `${name}, ms`, number: true }))];
  replace("latency", rows.length ? table(headings, rows) : none("No request yet."));
}

// Where each log stands that feeds the model; of many partitions the first few.
function showFeeds(feeds) {
  byId("feeds").parentElement.hidden = !feeds.length;
  const rows = feeds.map((feed) => {
    const places = Object.entries(feed.position).map(([partition, place]) => (partition ? `${partition}: ${place}` : String(place)));
    const state = feed.failure ?? (feed.behind === 0 || feed.caught_up ? "at the end" : "reading");
    return [feed.log, places.slice(0, 4).join(", ") + (places.length > 4 ? ", …" : "") || "–", whole(feed.examples), whole(feed.behind),
      number(feed.lines_per_second), whole(feed.refused), state];
  });
  const headings = [{ name: "log" }, { name: "last learnt" }, ...["examples", "to come", "a second", "refused"].map((name) => ({ name, number: true })), { name: "state" }];
  replace("feeds", table(headings, rows));
}

// The mean of what came between two points of a mean over all.
function between(points, name) {
  return points.slice(1).map((point, k) => {
    const last = points[k], span = point.examples - last.examples;
    return [point.examples, (point[name] * point.examples - last[name] * last.examples) / span];
  });
}

function key(entries) {
  const marks = entries.map(([kind, text]) => element("span", {}, element("i", { class: kind }), text));
  return element("p", { class: "key" }, ...marks);
}

function showCurve(found) {
  const regular = found.curve.filter((point, k) => k === found.curve.length - 1 || point.examples >= 64 || found.curve.length < 8);
  const sparse = regular.filter((_, k) => k % Math.ceil(regular.length / 60) === 0 || k === regular.length - 1);
  const end = sparse.at(-1)?.examples - sparse.at(-2)?.examples, usual = sparse.at(-2)?.examples - sparse.at(-3)?.examples;
  const recent = end < usual / 2 ? sparse.toSpliced(-2, 1) : sparse; // the last few alone would leap
  const width = Math.max(280, byId("loss-chart").clientWidth);
  const lines = (name) => [
    { class: "last", points: between(recent, name) },
    { class: "all", points: regular.map((point) => [point.examples, point[name]]) },
  ];
  const marks = [["all", "all examples so far"], ["last", "the last ones"]];
  const wrong = byId("error-chart").parentElement;
  wrong.hidden = found.error_rate == null;
  if (!wrong.hidden) {
    replace("error-chart", chart(lines("error_rate"), width, { level: found.baseline, format: share }),
      key([...marks, ["base", `baseline, the most frequent class: ${share(found.baseline)}`]]));
  }
  replace("loss-chart", chart(lines("mean_loss"), width), key(marks));
}

function showClasses(found) {
  const confusion = found.confusion;
  byId("classes").parentElement.hidden = !confusion;
  if (!confusion) return;
  const counts = confusion.map((row) => row.reduce((a, b) => a + b, 0));
  const most = Math.max(...counts, 1);
  const rows = found.classes.map((name, k) => [name, bar(counts[k], most), whole(counts[k]), counts[k] ? share(confusion[k][k] / counts[k]) : "–"]);
  const headings = [{ name: "class" }, { name: "", bar: true }, { name: "examples", number: true }, { name: "right", number: true }];
  replace("classes", rows.length ? table(headings, rows) : none("No class yet."));
}

function showTop(columns) {
  const now = new Map();
  const parts = [];
  for (const column of columns.slice(0, 6)) {
    const effects = column.features.map(([, weight], k) => Math.sign(weight) * (column.importances[k] ?? Math.abs(weight)));
    const most = Math.max(...effects.map(Math.abs), 0);
    const rows = column.features.map(([name, weight], k) => {
      const effect = effects[k], place = `${column.class}\n${name}`, last = before.get(place) ?? effect;
      now.set(place, effect);
      return [name, bar(effect, most), number(effect), number(weight), effect > last ? "↑" : effect < last ? "↓" : ""];
    });
    if (column.class != null) parts.push(element("h3", {}, `for ${column.class}`));
    const names = new Set(column.columns.map(([name]) => name));
    if (column.features.some(([name]) => name !== "(intercept)" && !names.has(name))) {
      const largest = Math.max(...column.columns.map(([, size]) => size), 0);
      const listed = column.columns.slice(0, 10).map(([name, size]) => [name, bar(size, largest), number(size)]);
      parts.push(table([{ name: "column" }, { name: "", bar: true }, { name: "importance", number: true }], listed));
    }
    const headings = [{ name: "feature" }, { name: "", bar: true }, ...["effect", "weight"].map((name) => ({ name, number: true })), { name: "" }];
    parts.push(rows.length ? table(headings, rows) : none("Nothing has been learnt yet."));
  }
  before = now;
  replace("top", ...parts);
}

const title = (entry) => `${entry.name}${entry.first ? " (first)" : entry.shadow ? " (shadow)" : ""}`;

function showModels(models) {
  byId("models").parentElement.hidden = models.length < 2;
  const rows = models.map((entry) => [
    title(entry), whole(entry.examples), share(entry.error_rate), number(entry.mean_loss), whole(entry.refused), entry.shadow ? whole(entry.behind) : "–",
  ]);
  replace("models", table([{ name: "model" }, ...["examples", "error rate", "loss", "refused", "behind"].map((name) => ({ name, number: true }))], rows));
  const options = models.map((entry) => element("option", { value: entry.name }, title(entry)));
  byId("model").hidden = models.length < 2;
  if (options.map((option) => option.textContent).join() !== [...byId("model").options].map((option) => option.textContent).join()) {
    byId("model").replaceChildren(...options);
  }
  byId("model").value = model;
}

function showWarnings(lines) {
  byId("warnings").hidden = !lines.length;
  replace("warnings", ...lines.map((line) => element("li", {}, line)));
}

// An example of the model's own columns, as long as nobody has written another.
function showExample(example) {
  const area = byId("example");
  if (!Object.keys(example).length || (area.value && area.value !== area.dataset.offered)) return;
  area.value = area.dataset.offered = JSON.stringify(example, null, 1).replace(/\n ?/g, " ");
}

function showDrift(events) {
  const rows = events.slice(-8).reverse().map((event) => [`at example ${whole(event.example)}`, number(event.before)]);
  replace("drift", rows.length ? table([{ name: "the error rose" }, { name: "mean before", number: true }], rows) : none("None found."));
}

function showQuarantine(lines) {
  const rows = lines.slice(0, 12).map((entry) => [
    new Date(1000 * entry.at).toLocaleTimeString(), element("code", {}, entry.line.slice(0, 160)), entry.error,
  ]);
  replace("quarantine", rows.length ? table([{ name: "at" }, { name: "line" }, { name: "why" }], rows) : none("None."));
}

function range(ends) {
  return ends ? ` (${number(ends[0])} to ${number(ends[1])})` : "";
}

function added(kind, entries) {
  const most = Math.max(...entries.map((entry) => Math.abs(entry.contribution)), 0);
  const said = (value) => (typeof value === "number" ? number(value) : value ?? "");
  const valued = kind !== "pair";
  const rows = entries.map((entry) => [
    entry.name, ...(valued ? [entry.name.startsWith("(") ? "" : said(entry.value)] : []), bar(entry.contribution, most),
    number(entry.contribution) + range(entry.interval),
  ]);
  const value = valued ? [{ name: kind === "column" ? "value" : "is", number: true }] : [];
  return table([{ name: kind }, ...value, { name: "", bar: true }, { name: "adds", number: true }], rows);
}

function showExplained(found) {
  const parts = [element("p", { class: "big" }, "It says ", element("b", { id: "said" }, String(found.prediction ?? "nothing yet")))];
  for (const [name, value] of Object.entries(found.probabilities ?? {})) parts.push(element("div", {}, `${name}: ${share(value)}`));
  for (const column of found.classes) {
    parts.push(element("h3", {}, `${column.class == null ? "the number" : `for ${column.class}`}: ${number(column.margin)}`));
    parts.push(added("column", column.columns));
    const values = column.features.filter((f) => !f.name.startsWith("("));
    const alike = values.every((f) => column.columns.some((c) => c.name === f.name));
    if (!alike || column.pairs.length) parts.push(added("value", column.features));
    if (column.pairs.length) parts.push(added("pair", column.pairs));
  }
  replace("explained", ...parts);
}

async function look() {
  const [found, columns] = await Promise.all([json(path("model")), json(`${path("top")}?n=12`)]);
  byId("about").textContent = `${found.learner}, ${found.task}`;
  showWarnings(found.warnings);
  showExample(found.example);
  showCurve(found);
  showClasses(found);
  const models = await json("/v1/models");
  showModels(models);
  byId("calibration").parentElement.hidden = found.calibration_error == null;
  replace("calibration", square(found.calibration ?? [], found.calibration_weights));
  showTop(columns);
  showDrift(found.drift);
  const refused = await json(path("quarantine")).catch((error) => error);
  if (Array.isArray(refused)) showQuarantine(refused);
  else replace("quarantine", none(refused.message));
  if (!chosen && !models.some((entry) => entry.first && entry.name === model)) asked?.abort(); // another was promoted
}

async function follow() {
  asked?.abort();
  const mine = asked = new AbortController();
  const reader = (await ask(path("events"), { signal: mine.signal })).body.pipeThrough(new TextDecoderStream()).getReader();
  live("live", "live");
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error("the service has ended");
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const [, kind, data] = event.match(/^event: (.*)\ndata: (.*)$/s) ?? [];
      if (kind === "figures") showFigures(JSON.parse(data));
      if (kind === "drift") await look();
    }
  }
}

const wait = (ms) => new Promise((done) => setTimeout(done, ms));

function entered(error) {
  if (error.status !== 401 && error.status !== 403) return false;
  byId("door").hidden = false;
  byId("main").hidden = true;
  live("lost", error.status === 403 ? "this token may not look" : "a token is needed");
  return true;
}

async function begin() {
  byId("door").hidden = true;
  const models = await json("/v1/models");
  chosen &&= models.some((entry) => entry.name === model);
  if (!chosen) model = models.find((entry) => entry.first).name;
  byId("main").hidden = false;
  await look();
}

async function keepLooking() {
  for (;;) {
    await wait(EVERY);
    if (!byId("main").hidden) await look().catch(() => {});
  }
}

async function stay() {
  for (;;) {
    try {
      await begin();
      await follow();
    } catch (error) {
      if (error.name !== "AbortError") {
        if (entered(error)) return;
        live("lost", "connection lost; trying again");
      }
    }
    await wait(1000);
  }
}

byId("door").addEventListener("submit", (event) => {
  event.preventDefault();
  token = byId("token").value.trim();
  sessionStorage.setItem("token", token);
  stay();
});
byId("model").addEventListener("change", () => {
  model = byId("model").value;
  chosen = true;
  before = new Map();
  asked?.abort();
});
byId("try").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const headers = { "Content-Type": "application/json" };
    showExplained(await json(path("explain"), { method: "POST", headers, body: byId("example").value }));
  } catch (error) {
    replace("explained", none(error.message));
  }
});
keepLooking();
stay();
