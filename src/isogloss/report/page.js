// The page's own script: tables that sort, charts over the series in the page, the browser of examples.
// Everything from a corpus goes in as text (textContent, Vega values), never as markup.

const byId = (id) => document.getElementById(id);
let data = JSON.parse(byId("data").textContent); // or, of a page that is served, where they come from
const specs = JSON.parse(byId("specs").textContent);

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

const isolated = (text) => element("bdi", { dir: "auto", textContent: text });
const short = (text, limit) => ([...text].length <= limit ? text : [...text].slice(0, limit - 1).join("") + "…");

// ---- tables ----

function sortTable(button) {
  const head = button.closest("th"), table = button.closest("table"), body = table.tBodies[0];
  const column = [...head.parentNode.children].indexOf(head);
  const next = { none: "ascending", ascending: "descending", descending: "none" }[head.ariaSort || "none"];
  table.rowsAsRead ??= [...body.rows];
  for (const other of head.parentNode.children) other.ariaSort = "none";
  head.ariaSort = next;
  const key = (row) => {
    const cell = row.cells[column], value = cell.dataset.value;
    return value === undefined ? cell.textContent : value === "" ? NaN : Number(value);
  };
  const compare = (a, b) => {
    const [x, y] = [key(a), key(b)];
    if (typeof x === "number" && typeof y === "number") {
      if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y); // what is not there comes last, whichever way
      return next === "descending" ? y - x : x - y;
    }
    return (next === "descending" ? -1 : 1) * String(x).localeCompare(String(y), undefined, { numeric: true });
  };
  body.append(...(next === "none" ? table.rowsAsRead : [...table.rowsAsRead].sort(compare)));
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button.sort");
  if (button) sortTable(button);
});

// ---- charts ----

function telling(all, names) {
  // what has to be said to tell these series apart: the names whose values differ
  const needed = names.filter((name) => new Set(all.map((one) => one[name])).size > 1);
  return (one) => needed.map((name) => one[name] || (name === "changes" ? "no change" : "")).filter(Boolean).join(" · ");
}

function options(select, labels, none) {
  select.replaceChildren(...(none ? [new Option(none, "")] : []), ...labels.map((label, i) => new Option(short(label, 80), i)));
}

function chosenTargets() {
  const boxes = [...document.querySelectorAll("#languages input")];
  return new Set(boxes.filter((box) => box.checked).map((box) => Number(box.value)));
}

async function draw(id, rows, note) {
  const place = byId(id);
  place.closest("figure").querySelector(".said").textContent = note || "";
  const actions = { export: true, source: false, compiled: false, editor: false };
  const spec = { ...structuredClone(specs[id]), datasets: { rows } };
  if (!rows.some((row) => row.stage === "final norm")) spec.layer = spec.layer?.filter((layer) => layer.name !== "final norm");
  if (spec.height.step) spec.height = spec.height.step * Math.max(1, new Set(rows.map((row) => row.target)).size);
  const longest = Math.max(0, ...rows.map((row) => String(row.change ?? row.words ?? row.target ?? "").length));
  const room = Math.max(60, place.clientWidth - 90); // beside the axis and the menu
  const label = Math.min(150, Math.max(40, 8 * longest), room - 30);
  spec.config.legend = { ...spec.config.legend, labelLimit: label, columns: Math.max(1, Math.floor(room / (label + 28))) };
  const several = new Set(rows.map((row) => row.experiment)).size > 1; // else the choice says it
  legendOfExperiments(spec, several ? { columns: 1, labelLimit: room - 30 } : null);
  spec.config.axis = { ...spec.config.axis, labelLimit: Math.min(130, room / 3) };
  if (place.view) place.view.finalize();
  const drawn = await vegaEmbed(place, spec, { mode: "vega-lite", renderer: "svg", ast: true, actions, downloadFileName: id });
  place.view = drawn.view;
  place.querySelector("summary").ariaLabel = "Save the chart";
  reachLegend(place);
  place.dataset.rows = rows.length; // for whoever waits until it is drawn
}

function reachLegend(place) {
  // what a click on a legend does, Enter and the space bar do as well
  for (const label of place.querySelectorAll(".role-legend-label text")) {
    label.setAttribute("tabindex", "0");
    label.setAttribute("role", "button");
    label.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      label.dispatchEvent(new MouseEvent("click", { bubbles: true, shiftKey: event.shiftKey }));
    });
  }
}

function legendOfExperiments(part, legend) {
  for (const value of Object.values(part)) {
    if (value && typeof value === "object") legendOfExperiments(value, legend);
  }
  if (part.field === "experiment" && part.type) part.legend = legend;
}

const unscaled = (value) => (value === null ? null : value / data.scales.curves);
const points = (value) => (value === null ? null : (100 * value) / data.scales.scores);

const scores = {
  groups: [],
  start() {
    const same = (one) => JSON.stringify([one.study, one.model, one.task, one.source, one.metric]);
    const found = new Map();
    for (const one of data.scores) found.set(same(one), [...(found.get(same(one)) || []), one]);
    this.groups = [...found.values()];
    const label = telling(this.groups.map((group) => group[0]), ["study", "model", "source"]);
    const labels = this.groups.map((group) => [label(group[0]), group[0].task, group[0].metric].filter(Boolean).join(" · "));
    this.labels = labels;
    options(byId("scores-a"), labels);
    options(byId("scores-b"), labels, "nothing");
    if (this.groups.length < 2) byId("scores-b").closest("label").hidden = true;
    for (const id of ["scores-a", "scores-b"]) byId(id).addEventListener("change", () => this.draw());
  },
  draw() {
    const kept = chosenTargets(), rows = [];
    for (const id of ["scores-a", "scores-b"]) {
      if (byId(id).value === "") continue;
      const number = Number(byId(id).value);
      for (const one of this.groups[number]) {
        one.target.forEach((target, i) => {
          if (!kept.has(target)) return;
          const score = points(one.mean[i]), sd = points(one.sd[i]);
          rows.push({
            target: data.targets[target], change: one.changes || "no change", experiment: this.labels[number],
            score, sd, gap: points(one.gap[i]), low: score - (sd || 0), high: score + (sd || 0),
          });
        });
      }
    }
    return draw("scores", rows, rows.some((row) => row.sd) ? "Lines: standard deviation over seeds." : "");
  },
};

const curves = {
  start() {
    const indexes = [...new Set(data.curves.map((one) => one.index))];
    byId("index").replaceChildren(...indexes.map((name) => new Option(name)));
    const layers = [...new Set(data.curves.flatMap((one) => one.layer))].sort((a, b) => a - b);
    for (const id of ["from", "to"]) byId(id).replaceChildren(...layers.map((layer) => new Option(layer)));
    byId("to").value = layers.at(-1);
    this.list();
    byId("index").addEventListener("change", () => { this.list(); this.draw(); });
    for (const id of ["curves-a", "curves-b", "from", "to"]) byId(id).addEventListener("change", () => this.draw());
  },
  list() {
    // the experiments that were measured with the index; the choice stays where it can
    const before = [byId("curves-a"), byId("curves-b")].map((select) => select.selectedOptions[0]?.text);
    this.own = data.curves.filter((one) => one.index === byId("index").value);
    const label = telling(this.own, ["study", "model", "source", "changes", "task"]);
    this.labels = this.own.map((one) => [label(one), one.when + " fine-tuning"].filter(Boolean).join(" · "));
    options(byId("curves-a"), this.labels);
    options(byId("curves-b"), this.labels, "nothing");
    ["curves-a", "curves-b"].forEach((id, i) => {
      const again = this.labels.indexOf(before[i]);
      if (again >= 0) byId(id).value = again;
    });
  },
  chosen() {
    const ids = ["curves-a", "curves-b"].filter((id) => byId(id).value !== "");
    return ids.map((id) => [this.own[Number(byId(id).value)], this.labels[Number(byId(id).value)]]);
  },
  within(layer) {
    return layer >= Number(byId("from").value) && layer <= Number(byId("to").value);
  },
  draw() {
    const kept = chosenTargets(), rows = [];
    for (const [one, experiment] of this.chosen()) {
      one.target.forEach((target, t) => {
        if (!kept.has(target)) return;
        one.layer.forEach((layer, i) => {
          if (!this.within(layer) || one.value[t][i] === null) return;
          rows.push({
            target: data.targets[target], experiment, layer, stage: one.stage[i] || "block", value: unscaled(one.value[t][i]),
            low: unscaled((one.low || one.value)[t][i]), high: unscaled((one.high || one.value)[t][i]),
          });
        });
      });
    }
    const bands = rows.some((row) => row.low !== row.value);
    const layers = [...new Set(rows.map((row) => row.layer))].sort((a, b) => a - b), every = Math.ceil(layers.length / 16);
    specs.curves.encoding.x.axis.values = layers.filter((_, i) => i % every === 0);
    return Promise.all([draw("curves", rows, bands ? "Bands: 95 % bootstrap interval over sentences." : ""), this.gaps(kept)]);
  },
  async gaps(kept) {
    // the gap of each target beside its similarity in the layers that are looked at
    if (!byId("gaps")) return;
    const rows = [], said = [];
    const score = scores.groups[Number(byId("scores-a").value)] || [];
    for (const [one, experiment] of this.chosen()) {
      const own = score.find((s) => s.model === one.model && s.source === one.source && (s.changes === one.changes || !one.changes));
      if (!own) continue;
      const found = [];
      one.target.forEach((target, t) => {
        const i = own.target.indexOf(target);
        if (!kept.has(target) || i < 0 || own.gap[i] === null || data.targets[target] === one.source) return;
        const values = one.value[t].filter((value, k) => value !== null && one.stage[k] === "" && this.within(one.layer[k]));
        if (!values.length) return;
        const similarity = unscaled(values.reduce((a, b) => a + b) / values.length);
        const name = rows.some((row) => row.target === data.targets[target]) ? "" : data.targets[target];
        found.push({ target: data.targets[target], name, experiment, similarity, gap: points(own.gap[i]) });
      });
      rows.push(...found);
      const rho = spearman(found.map((row) => row.similarity), found.map((row) => row.gap));
      if (rho !== null) said.push(`${experiment}: Spearman’s ρ = ${rho.toFixed(2).replace("-", "−")} over ${found.length} languages`);
    }
    const layers = `Similarity: mean over layers ${byId("from").value} to ${byId("to").value}. `;
    return draw("gaps", rows, rows.length ? layers + said.map((one) => one + ".").join(" ") : "No scores belong to these curves.");
  },
};

function spearman(x, y) {
  if (x.length < 4) return null;
  const ranks = (values) => values.map((v) => values.filter((w) => w < v).length + values.filter((w) => w === v).length / 2);
  const [a, b] = [ranks(x), ranks(y)], middle = x.length / 2;
  const sum = (f) => a.reduce((total, _, i) => total + f(a[i] - middle, b[i] - middle), 0);
  const spread = Math.sqrt(sum((p) => p * p) * sum((_, q) => q * q));
  return spread ? sum((p, q) => p * q) / spread : null;
}

const histograms = {
  start() {
    this.labels = [...new Set(data.histograms.map((row) => row.series))];
    options(byId("histogram"), this.labels);
    byId("histogram").addEventListener("change", () => this.draw());
  },
  draw() {
    const wanted = this.labels[Number(byId("histogram").value)];
    return draw("histograms", data.histograms.filter((row) => row.series === wanted));
  },
};

function languages(redraw) {
  const place = byId("languages");
  const boxes = data.targets.map((name, i) => {
    const box = element("input", { type: "checkbox", value: i, checked: data.targets.length <= 24 || i < 12 });
    return element("label", {}, box, isolated(short(name, 40)));
  });
  const every = (checked) => {
    for (const box of place.querySelectorAll("input")) box.checked = checked;
    redraw();
  };
  const all = element("button", { type: "button", className: "plain", textContent: "all", onclick: () => every(true) });
  const none = element("button", { type: "button", className: "plain", textContent: "none", onclick: () => every(false) });
  place.append(...boxes);
  place.after(element("div", { className: "links" }, all, none));
  place.addEventListener("change", redraw);
}

// ---- examples ----

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1eeff}]/u;

const way = (words) => (RIGHT_TO_LEFT.test(words.join("")) ? "rtl" : "ltr");

function tagOf(value) {
  return Array.isArray(value) ? `${value[1]} ← ${value[0]}` : String(value);
}

function gloss(item, columns) {
  // as linguists write it: under each word its labels, the gold first; lines wrap, and run as the words do
  const arcs = Array.isArray(item.gold[0]), predicted = columns.map((name, i) => [name, item.predicted[i]]).filter(([, one]) => one);
  const line = (className, text) => element("span", { className }, isolated(text));
  const head = element("li", { className: "names" }, line("word", arcs ? "word (number)" : "word"), line("", "gold"));
  head.append(...predicted.map(([name]) => line("", name)));
  const stacks = item.words.map((word, i) => {
    const gold = tagOf(item.gold[i]);
    const stack = element("li", {}, line("word", arcs ? `${word} (${i + 1})` : word), line("", gold));
    stack.append(...predicted.map(([, one]) => line(tagOf(one[i]) === gold ? "" : "wrong", tagOf(one[i]))));
    return stack;
  });
  return element("ol", { className: "gloss", dir: way(item.words), ariaLabel: "words with their labels" }, head, ...stacks);
}

function textList(item, columns) {
  const list = element("dl");
  const add = (name, value, wrong) => {
    list.append(element("dt", { textContent: name }), element("dd", { className: wrong ? "wrong" : "" }, isolated(value)));
  };
  for (const [name, value] of Object.entries(item.text)) add(name, value);
  add("gold", item.gold);
  columns.forEach((name, i) => item.predicted[i] !== null && add(name, item.predicted[i] || "(nothing)", (item.scores[i] ?? 0) < 1));
  return list;
}

function article(item, columns, metric, all = false) {
  // an item with its gold labels and what each column predicted; a tree of the first column, or of all
  const told = columns.map((name, i) => (item.scores[i] === null ? null : `${(100 * item.scores[i]).toFixed(0)} (${name})`));
  const parts = [element(all ? "h2" : "h3", { className: "item" }, isolated(`Item ${item.item + 1}: ${metric} ${told.filter(Boolean).join(", ")}`))];
  if (!item.words) parts.push(textList(item, columns));
  else {
    if (Array.isArray(item.gold[0])) {
      const drawn = columns.map((_, i) => i).filter((i) => item.predicted[i]);
      for (const i of all ? drawn : drawn.slice(0, 1)) {
        if (all && drawn.length > 1) parts.push(element("p", { className: "note", dir: way(item.words) }, isolated(columns[i])));
        parts.push(tree(item, item.predicted[i], columns[i]));
      }
    }
    parts.push(gloss(item, columns));
    if (item.more) parts.push(element("p", { className: "note", textContent: `${item.more} more words are not shown.` }));
  }
  return element("article", { className: "example" }, ...parts);
}

function showExamples() {
  const one = data.examples[Number(byId("example-of").value)];
  const target = one.targets[Number(byId("example-target").value)];
  byId("example-count").textContent = target.items.length
    ? `${target.wrong} of ${target.of} items are not all right; the worst ${target.items.length} by ${one.metric}. Wrong labels are marked ✗.`
    : `All ${target.of} items are right.`;
  byId("examples").replaceChildren(...target.items.map((item) => article(item, one.columns, one.metric)));
}

function startExamples() {
  const label = telling(data.examples, ["study", "model", "source"]);
  options(byId("example-of"), data.examples.map((one) => [label(one), one.task].filter(Boolean).join(" · ")));
  const targets = () => {
    const one = data.examples[Number(byId("example-of").value)];
    const before = byId("example-target").selectedOptions[0]?.text;
    const names = one.targets.map((target) => target.target);
    options(byId("example-target"), names);
    const away = names.findIndex((name) => name !== one.source); // the source itself is of less interest
    byId("example-target").value = Math.max(0, names.includes(before) ? names.indexOf(before) : away);
  };
  byId("example-of").addEventListener("change", () => { targets(); showExamples(); });
  byId("example-target").addEventListener("change", showExamples);
  targets();
  showExamples();
}

// ---- start ----

async function start() {
  if (data.from) data = await (await fetch(data.from)).json();
  const parts = [["scores", scores], ["curves", curves], ["histograms", histograms]].filter(([id]) => byId(id));
  for (const [, part] of parts) part.start();
  if (byId("scores") && byId("curves")) byId("scores-a").addEventListener("change", () => curves.draw());
  const redraw = async () => { for (const [, part] of parts) await part.draw(); };
  if (byId("languages")) languages(redraw);
  if (data.examples.length) startExamples();
  await redraw();
  document.documentElement.dataset.ready = "true";
}

start();
