// Tables, bars and lines, drawn with what every browser has.

const SVG = "http://www.w3.org/2000/svg";

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function drawn(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

export const whole = (value) => value == null ? "–" : Math.round(value).toLocaleString("en");
export const share = (value) => value == null ? "–" : `${(100 * value).toFixed(value < 0.1 ? 2 : 1)} %`;
export const bytes = (value) => value == null ? "–" : value < 1e6 ? `${(value / 1e3).toFixed(1)} kB` : `${(value / 1e6).toFixed(1)} MB`;
export const number = (value) => value == null ? "–" : Number(value).toPrecision(4).replace(/\.?0+$/, "");

export function replace(id, ...children) {
  document.getElementById(id).replaceChildren(...children);
}

export const none = (text) => element("p", { class: "none" }, text);

export function table(headings, rows) {
  const cell = (kind, value, k) => {
    const made = element(kind, headings[k].number ? { class: "n" } : headings[k].bar ? { class: "bars" } : {});
    if (kind === "td") made.dataset.name = headings[k].name;
    made.append(value instanceof Node ? value : String(value));
    return made;
  };
  const head = element("tr", {}, ...headings.map((heading, k) => cell("th", heading.name, k)));
  return element("table", {}, element("thead", {}, head),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((value, k) => cell("td", value, k))))));
}

export function bar(value, largest) {
  const made = element("div", { class: value < 0 ? "bar minus" : "bar" });
  made.style.width = `${largest > 0 ? (100 * Math.abs(value)) / largest : 0}%`;
  return made;
}

// The next number of the form 1, 2, 2.5 or 5 times a power of ten.
function tidy(value) {
  const power = 10 ** Math.floor(Math.log10(value || 1));
  return power * [1, 2, 2.5, 5, 10].find((factor) => factor * power >= value * 0.999);
}

// Lines over the number of examples. `lines` are [{ class, points: [[x, y], …] }]; `level` is drawn across.
export function chart(lines, width, { level = null, format = number, height = 220 } = {}) {
  const left = 60, bottom = 26;
  const points = lines.flatMap((line) => line.points);
  if (!points.length) return none("Nothing has been learnt yet.");
  const right = Math.max(...points.map((point) => point[0]), 1);
  const step = tidy(Math.max(...points.map((point) => point[1]), level ?? 0) / 4), high = 4 * step;
  const x = (value) => left + ((width - left) * value) / right;
  const y = (value) => (height - bottom) * (1 - Math.min(value, high) / high) + 4;
  const made = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  for (let k = 0; k <= 4; k++) {
    const value = (high * k) / 4;
    made.append(drawn("line", { class: "grid", x1: left, x2: width, y1: y(value), y2: y(value) }));
    made.append(drawn("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, format(value)));
  }
  const across = tidy(right / 5);
  for (let place = 0; place <= right; place += across) {
    made.append(drawn("text", { x: x(place), y: height - 4, "text-anchor": place === 0 ? "start" : x(place) > width - 30 ? "end" : "middle" }, whole(place)));
  }
  if (x(Math.floor(right / across) * across) < width - 110) made.append(drawn("text", { x: width, y: height - 4, "text-anchor": "end" }, "examples"));
  if (level != null) made.append(drawn("line", { class: "base", x1: left, x2: width, y1: y(level), y2: y(level) }));
  for (const line of lines) {
    const path = line.points.map(([a, b], k) => `${k ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("");
    made.append(drawn("path", { class: line.class, d: path, "vector-effect": "non-scaling-stroke" }));
  }
  return made;
}

// Observed frequency against predicted probability, from 0 to 1. The area of a dot goes by its examples.
export function square(points, weights) {
  const size = 260, left = 40, bottom = 24, span = size - left - 10;
  const x = (value) => left + span * value, y = (value) => size - bottom - span * value;
  const made = drawn("svg", { viewBox: `0 0 ${size + 120} ${size}`, role: "img" });
  for (const value of [0, 0.5, 1]) {
    made.append(drawn("line", { class: "grid", x1: x(0), x2: x(1), y1: y(value), y2: y(value) }));
    made.append(drawn("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, `${100 * value} %`));
    made.append(drawn("text", { x: x(value), y: size - 6, "text-anchor": "middle" }, `${100 * value} %`));
  }
  made.append(drawn("line", { class: "base", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }));
  const most = Math.max(...weights, 0);
  points.forEach(([predicted, observed], k) => {
    const count = weights[k] ?? most, radius = Math.max(1.5, 9 * Math.sqrt(count / (most || 1)));
    const dot = drawn("circle", { class: "dot", cx: x(predicted), cy: y(observed), r: radius.toFixed(2) });
    dot.append(drawn("title", {}, `${whole(count)} examples: promised ${share(predicted)}, came true ${share(observed)}`));
    made.append(dot);
  });
  made.append(drawn("text", { x: x(1) + 10, y: y(1) + 4 }, "↑ came true"), drawn("text", { x: x(1) + 10, y: y(0) + 4 }, "→ promised"));
  return made;
}
