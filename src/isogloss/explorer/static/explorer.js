"use strict";
// What the explorer adds to the report's script: live progress, selected runs, tests, sentences.

// ---- sentences ----

if (byId("items")) {
  const { items, conditions, metric } = JSON.parse(byId("items").textContent);
  byId("examples").replaceChildren(...items.map((item) => article(item, conditions, metric, true)));
}

// ---- selected runs: remembered from page to page ----

const boxes = () => [...document.querySelectorAll(".picking input[name=run]")];
const picked = () => JSON.parse(sessionStorage.getItem("picked") || "[]"); // the runs of each selected checkbox, as JSON

function pick(values) {
  sessionStorage.setItem("picked", JSON.stringify(values));
  showPicked();
}

function showPicked() {
  if (!byId("picked")) return;
  const selected = picked();
  for (const box of boxes()) box.checked = selected.includes(box.dataset.runs);
  byId("picked").textContent = selected.length ? `${selected.length} selected` : "";
  byId("unpick").hidden = !selected.length;
}

document.addEventListener("change", (event) => {
  const box = event.target;
  if (!box.matches(".picking input[name=run]")) return;
  const others = picked().filter((runs) => runs !== box.dataset.runs);
  pick(box.checked ? [...others, box.dataset.runs] : others);
});

document.addEventListener("submit", (event) => {
  if (!event.target.matches(".picking")) return;
  event.preventDefault();
  const runs = picked().flatMap((value) => JSON.parse(value));
  if (!runs.length) return void (byId("picked").textContent = "Select runs first.");
  sessionStorage.removeItem("picked");
  location.href = "/compare?" + new URLSearchParams(runs.map((run) => ["run", run]));
});

byId("unpick")?.addEventListener("click", () => pick([]));
window.addEventListener("pageshow", showPicked);
showPicked();

// ---- significance tests: slow, so they are requested one by one ----

const inPoints = (value) => ((100 * value).toFixed(2).replace(/^-(0\.00)$/, "$1")).replace("-", "−");

async function test(cell, address) {
  const query = new URLSearchParams({ target: cell.closest("tr").dataset.target, condition: cell.dataset.condition });
  const response = await fetch(`${address}&${query}`);
  if (!response.ok) return;
  const result = await response.json();
  if (result.reason) return void (cell.title = `not tested: ${result.reason}`);
  if (result.low !== null && !cell.querySelector("small")) {
    cell.append(element("small", { textContent: `[${inPoints(result.low)}, ${inPoints(result.high)}]` }));
  }
  if (result.p !== null) cell.title = `p = ${result.p.toPrecision(2)} (${result.test}); n = ${result.n}; interval over ${result.over}`;
}

async function mark(table) {
  // stars are corrected for all tests of the table, so they come last
  const response = await fetch(table.dataset.marks);
  if (!response.ok) return;
  for (const { target, condition, holm, stars } of await response.json()) {
    const row = [...table.tBodies[0].rows].find((row) => row.dataset.target === target);
    const cell = row?.querySelector(`td[data-condition="${condition}"]`);
    if (!cell) continue;
    cell.querySelector(".stars").textContent = stars;
    if (holm !== null) cell.title += `; p = ${holm.toPrecision(2)} after Holm’s correction`;
  }
}

async function testAll(table) {
  const cells = [...table.querySelectorAll("td[data-condition]")];
  for (const [i, cell] of cells.entries()) {
    byId("test-status").textContent = `Testing: ${i} of ${cells.length}.`;
    cell.classList.add("waiting");
    await test(cell, table.dataset.tests).catch(() => {});
    cell.classList.remove("waiting");
  }
  await mark(table).catch(() => {});
  byId("test-status").textContent = "";
  table.dataset.tested = "true";
}

if (byId("compared")?.dataset.tests) testAll(byId("compared"));

// ---- live progress ----

async function parsed(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(response.statusText);
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

function replacePart(before, now) {
  // the element at the same position keeps the focus
  const focusable = (part) => [...part.querySelectorAll("a, button, input")], place = focusable(before).indexOf(document.activeElement);
  before.replaceWith(now);
  if (place >= 0) focusable(now)[place]?.focus({ preventScroll: true });
}

async function update() {
  const before = byId("jobs"), now = (await parsed("/progress" + location.search)).getElementById("jobs");
  const was = before.dataset.version + before.querySelectorAll("li").length;
  if (before.innerHTML !== now.innerHTML || before.dataset.version !== now.dataset.version) before.replaceWith(now);
  if (was === now.dataset.version + now.querySelectorAll("li").length) return;
  const page = await parsed(location.href);
  for (const part of document.querySelectorAll("[data-live]")) replacePart(part, page.getElementById(part.id));
  showPicked();
}

async function watch() {
  if (!document.hidden) await update().catch(() => {});
  setTimeout(watch, byId("jobs").querySelector("li") ? 2000 : 5000);
}

if (byId("jobs")) setTimeout(watch, 1000);
