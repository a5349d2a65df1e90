// Sortable tables, charts of the embedded data, and the browser of examples.
// Corpus content is inserted as text (textContent, Vega values), never as markup.

const byId = (id) => document.getElementById(id);
let data = JSON.parse(byId("data").textContent); // on a served page: the URL of the data
const specs = JSON.parse(byId("specs").textContent);

function element(name, properties = {}, ...children) {
  const created = Object.assign(document.createElement(name), properties);
  created.append(...children);
  return created;
}

const isolated = (text) => element("bdi", { dir: "auto", textContent: text });
const short = (text, limit) => ([...text].length <= limit ? text : [...text].slice(0, limit - 1).join("") + "…");

// ---- tables ----

function sortTable(button) {
  const head = button.closest("th"), table = button.closest("table"), body = table.tBodies[0];
  const column = [...head.parentNode.children].indexOf(head);
  const next = { none: "ascending", ascending: "descending", descending: "none" }[head.ariaSort || "none"];
  table.originalRows ??= [...body.rows];
  for (const other of head.parentNode.children) other.ariaSort = "none";
  head.ariaSort = next;
  const key = (row) => {
    const cell = row.cells[column], value = cell.dataset.value;
    return value === undefined ? cell.textContent : value === "" ? NaN : Number(value);
  };
  const compare = (a, b) => {
    const [x, y] = [key(a), key(b)];
    if (typeof x === "number" && typeof y === "number") {
      if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y); // missing values come last in either order
      return next === "descending" ? y - x : x - y;
    }
    return (next === "descending" ? -1 : 1) * String(x).localeCompare(String(y), undefined, { numeric: true });
  };
  body.append(...(next === "none" ? table.originalRows : [...table.originalRows].sort(compare)));
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button.sort");
  if (button) sortTable(button);
});

// ---- charts ----

function labeller(all, names) {
  // labels made of the properties whose values differ between the series
  const needed = names.filter((name) => new Set(all.map((series) => series[name])).size > 1);
  return (series) => needed.map((name) => series[name] || (name === "changes" ? "no intervention" : "")).filter(Boolean).join(" · ");
}

function options(select, labels, none) {
  select.replaceChildren(...(none ? [new Option(none, "")] : []), ...labels.map((label, i) => new Option(short(label, 80), i)));
}

function selectedTargets() {
  const boxes = [...document.querySelectorAll("#languages input")];
  return new Set(boxes.filter((box) => box.checked).map((box) => Number(box.value)));
}

async function draw(id, rows, note) {
  const place = byId(id);
  place.closest("figure").querySelector(".chart-note").textContent = note || "";
  const actions = { export: true, source: false, compiled: false, editor: false };
  const spec = { ...structuredClone(specs[id]), datasets: { rows } };
  if (!rows.some((row) => row.stage === "final norm")) spec.layer = spec.layer?.filter((layer) => layer.name !== "final norm");
  if (!rows.some((row) => "low" in row)) removeIntervals(spec); // a value without an interval has neither band nor bounds
  if (spec.height.step) spec.height = spec.height.step * Math.max(1, new Set(rows.map((row) => row.target)).size);
  const longest = Math.max(0, ...rows.map((row) => String(row.interventions ?? row.words ?? row.target ?? "").length));
  const width = Math.max(60, place.clientWidth - 90); // pixels beside the axis and the menu
  const label = Math.min(150, Math.max(40, 8 * longest), width - 30);
  spec.config.legend = { ...spec.config.legend, labelLimit: label, columns: Math.max(1, Math.floor(width / (label + 28))) };
  const several = new Set(rows.map((row) => row.experiment)).size > 1; // a single one is named in the selection
  setExperimentLegend(spec, several ? { columns: 1, labelLimit: width - 30 } : null);
  spec.config.axis = { ...spec.config.axis, labelLimit: Math.min(130, width / 3) };
  if (place.view) place.view.finalize();
  const embedded = await vegaEmbed(place, spec, { mode: "vega-lite", renderer: "svg", ast: true, actions, downloadFileName: id });
  place.view = embedded.view;
  place.querySelector("summary").ariaLabel = "Save the chart";
  makeLegendFocusable(place);
  place.dataset.rows = rows.length; // tests wait for it
}

function removeIntervals(spec) {
  spec.layer = spec.layer?.filter((layer) => layer.name !== "interval");
  const shown = spec.encoding?.tooltip;
  if (shown) spec.encoding.tooltip = shown.filter((field) => field.field !== "low" && field.field !== "high");
}

function makeLegendFocusable(place) {
  // Enter and the space bar act like a click on a legend entry
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

function setExperimentLegend(part, legend) {
  for (const value of Object.values(part)) {
    if (value && typeof value === "object") setExperimentLegend(value, legend);
  }
  if (part.field === "experiment" && part.type) part.legend = legend;
}

const unscaled = (value) => (value === null ? null : value / data.scales.curves);
const points = (value) => (value === null ? null : (100 * value) / data.scales.scores);

const scores = {
  groups: [],
  start() {
    const key = (series) => JSON.stringify([series.study, series.model, series.task, series.source, series.metric]);
    const groups = new Map();
    for (const series of data.scores) groups.set(key(series), [...(groups.get(key(series)) || []), series]);
    this.groups = [...groups.values()];
    const label = labeller(this.groups.map((group) => group[0]), ["study", "model", "source"]);
    const labels = this.groups.map((group) => [label(group[0]), group[0].task, group[0].metric].filter(Boolean).join(" · "));
    this.labels = labels;
    options(byId("scores-a"), labels);
    options(byId("scores-b"), labels, "none");
    if (this.groups.length < 2) byId("scores-b").closest("label").hidden = true;
    for (const id of ["scores-a", "scores-b"]) byId(id).addEventListener("change", () => this.draw());
  },
  draw() {
    const targets = selectedTargets(), rows = [];
    for (const id of ["scores-a", "scores-b"]) {
      if (byId(id).value === "") continue;
      const number = Number(byId(id).value);
      for (const series of this.groups[number]) {
        series.target.forEach((target, i) => {
          if (!targets.has(target)) return;
          const score = points(series.mean[i]), sd = points(series.sd[i]);
          rows.push({
            target: data.targets[target], interventions: series.changes || "no intervention", experiment: this.labels[number],
            score, sd, gap: points(series.gap[i]), ...(sd !== null && { low: score - sd, high: score + sd }),
          });
        });
      }
    }
    return draw("scores", rows, rows.some((row) => row.sd) ? "Lines: standard deviation over seeds." : "");
  },
};

const curves = {
  start() {
    const indexes = [...new Set(data.curves.map((series) => series.index))];
    byId("index").replaceChildren(...indexes.map((name) => new Option(name)));
    const layers = [...new Set(data.curves.flatMap((series) => series.layer))].sort((a, b) => a - b);
    for (const id of ["from", "to"]) byId(id).replaceChildren(...layers.map((layer) => new Option(layer)));
    byId("to").value = layers.at(-1);
    this.list();
    byId("index").addEventListener("change", () => { this.list(); this.draw(); });
    for (const id of ["curves-a", "curves-b", "from", "to"]) byId(id).addEventListener("change", () => this.draw());
  },
  list() {
    // the experiments measured with the index; the selection is kept where possible
    const before = [byId("curves-a"), byId("curves-b")].map((select) => select.selectedOptions[0]?.text);
    this.measured = data.curves.filter((series) => series.index === byId("index").value);
    const label = labeller(this.measured, ["study", "model", "source", "changes", "task"]);
    this.labels = this.measured.map((series) => [label(series), series.when + " fine-tuning"].filter(Boolean).join(" · "));
    options(byId("curves-a"), this.labels);
    options(byId("curves-b"), this.labels, "none");
    ["curves-a", "curves-b"].forEach((id, i) => {
      const number = this.labels.indexOf(before[i]);
      if (number >= 0) byId(id).value = number;
    });
  },
  selected() {
    const ids = ["curves-a", "curves-b"].filter((id) => byId(id).value !== "");
    return ids.map((id) => [this.measured[Number(byId(id).value)], this.labels[Number(byId(id).value)]]);
  },
  within(layer) {
    return layer >= Number(byId("from").value) && layer <= Number(byId("to").value);
  },
  draw() {
    const targets = selectedTargets(), rows = [];
    for (const [series, experiment] of this.selected()) {
      series.target.forEach((target, t) => {
        if (!targets.has(target)) return;
        series.layer.forEach((layer, i) => {
          if (!this.within(layer) || series.value[t][i] === null) return;
          rows.push({
            target: data.targets[target], experiment, layer, stage: series.stage[i] || "block", value: unscaled(series.value[t][i]),
            ...(series.low && series.low[t][i] !== null && { low: unscaled(series.low[t][i]), high: unscaled(series.high[t][i]) }),
          });
        });
      });
    }
    const bands = rows.some((row) => "low" in row);
    const layers = [...new Set(rows.map((row) => row.layer))].sort((a, b) => a - b), every = Math.ceil(layers.length / 16);
    specs.curves.encoding.x.axis.values = layers.filter((_, i) => i % every === 0);
    return Promise.all([draw("curves", rows, bands ? "Bands: 95 % bootstrap interval over sentences." : ""), this.gaps(targets)]);
  },
  async gaps(targets) {
    // the gap of each target against its mean similarity over the selected layers
    if (!byId("gaps")) return;
    const rows = [], notes = [];
    const scored = scores.groups[Number(byId("scores-a").value)] || [];
    for (const [series, experiment] of this.selected()) {
      const score = scored.find((s) => s.model === series.model && s.source === series.source && (s.changes === series.changes || !series.changes));
      if (!score) continue;
      const added = [];
      series.target.forEach((target, t) => {
        const i = score.target.indexOf(target);
        if (!targets.has(target) || i < 0 || score.gap[i] === null || data.targets[target] === series.source) return;
        const values = series.value[t].filter((value, k) => value !== null && series.stage[k] === "" && this.within(series.layer[k]));
        if (!values.length) return;
        const similarity = unscaled(values.reduce((a, b) => a + b) / values.length);
        const name = rows.some((row) => row.target === data.targets[target]) ? "" : data.targets[target];
        added.push({ target: data.targets[target], name, experiment, similarity, gap: points(score.gap[i]) });
      });
      rows.push(...added);
      const rho = spearman(added.map((row) => row.similarity), added.map((row) => row.gap));
      if (rho !== null) notes.push(`${experiment}: Spearman’s ρ = ${rho.toFixed(2).replace("-", "−")} over ${added.length} languages.`);
    }
    const headings = [...new Set(this.selected().flatMap(([series]) => scored.filter((s) => s.model === series.model).map((s) => s.gap_to)))];
    specs.gaps.encoding.y.title = `${headings.length === 1 ? headings[0] : "gap"} (points)`;
    const layers = `Similarity: mean over layers ${byId("from").value} to ${byId("to").value}. `;
    return draw("gaps", rows, rows.length ? layers + notes.join(" ") : "There are no scores for these curves.");
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
    const selected = this.labels[Number(byId("histogram").value)];
    return draw("histograms", data.histograms.filter((row) => row.series === selected));
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

const direction = (words) => (RIGHT_TO_LEFT.test(words.join("")) ? "rtl" : "ltr");

function tagOf(value) {
  return Array.isArray(value) ? `${value[1]} ← ${value[0]}` : String(value);
}

function gloss(item, conditions) {
  // an interlinear gloss: under each word its labels, the gold label first, in the direction of the text
  const arcs = Array.isArray(item.gold[0]), predicted = conditions.map((name, i) => [name, item.predicted[i]]).filter(([, labels]) => labels);
  const line = (className, text) => element("span", { className }, isolated(text));
  const head = element("li", { className: "names" }, line("word", arcs ? "word (number)" : "word"), line("", "gold"));
  head.append(...predicted.map(([name]) => line("", name)));
  const stacks = item.words.map((word, i) => {
    const gold = tagOf(item.gold[i]);
    const stack = element("li", {}, line("word", arcs ? `${word} (${i + 1})` : word), line("", gold));
    stack.append(...predicted.map(([, labels]) => line(tagOf(labels[i]) === gold ? "" : "wrong", tagOf(labels[i]))));
    return stack;
  });
  return element("ol", { className: "gloss", dir: direction(item.words), ariaLabel: "words and labels" }, head, ...stacks);
}

function textList(item, conditions) {
  const list = element("dl");
  const add = (name, value, wrong) => {
    list.append(element("dt", { textContent: name }), element("dd", { className: wrong ? "wrong" : "" }, isolated(value)));
  };
  for (const [name, value] of Object.entries(item.text)) add(name, value);
  add("gold", item.gold);
  conditions.forEach((name, i) => item.predicted[i] !== null && add(name, item.predicted[i] || "(no answer)", (item.scores[i] ?? 0) < 1));
  return list;
}

function article(item, conditions, metric, all = false) {
  // an item with its gold labels and the predictions of each condition; the tree of the first condition, or of all
  const scores = conditions.map((name, i) => (item.scores[i] === null ? null : `${(100 * item.scores[i]).toFixed(0)} (${name})`));
  const parts = [element(all ? "h2" : "h3", { className: "item" }, isolated(`Item ${item.item + 1}: ${metric} ${scores.filter(Boolean).join(", ")}`))];
  if (!item.words) parts.push(textList(item, conditions));
  else {
    if (Array.isArray(item.gold[0])) {
      const shown = conditions.map((_, i) => i).filter((i) => item.predicted[i]);
      for (const i of all ? shown : shown.slice(0, 1)) {
        if (all && shown.length > 1) parts.push(element("p", { className: "note", dir: direction(item.words) }, isolated(conditions[i])));
        parts.push(tree(item, item.predicted[i], conditions[i]));
      }
    }
    parts.push(gloss(item, conditions));
    if (item.more) parts.push(element("p", { className: "note", textContent: `${item.more} more words are not shown.` }));
  }
  return element("article", { className: "example" }, ...parts);
}

function showExamples() {
  const experiment = data.examples[Number(byId("example-of").value)];
  const target = experiment.targets[Number(byId("example-target").value)];
  byId("example-count").textContent = target.items.length
    ? `${target.wrong} of ${target.of} items have errors; shown are the ${target.items.length} with the lowest ${experiment.metric}. Wrong labels are marked ✗.`
    : `All ${target.of} items are correct.`;
  byId("examples").replaceChildren(...target.items.map((item) => article(item, experiment.conditions, experiment.metric)));
}

function startExamples() {
  const label = labeller(data.examples, ["study", "model", "source"]);
  options(byId("example-of"), data.examples.map((experiment) => [label(experiment), experiment.task].filter(Boolean).join(" · ")));
  const targets = () => {
    const experiment = data.examples[Number(byId("example-of").value)];
    const before = byId("example-target").selectedOptions[0]?.text;
    const names = experiment.targets.map((target) => target.target);
    options(byId("example-target"), names);
    const other = names.findIndex((name) => name !== experiment.source); // the source is of less interest
    byId("example-target").value = Math.max(0, names.includes(before) ? names.indexOf(before) : other);
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
