"use strict";
// What the explorer adds to the report's script: live progress, runs that are chosen, tests, sentences.

// ---- sentences ----

if (byId("items")) {
  const shown = JSON.parse(byId("items").textContent);
  byId("examples").replaceChildren(...shown.items.map((item) => article(item, shown.columns, shown.metric, true)));
}

// ---- chosen runs: kept while one goes from page to page ----

const boxes = () => [...document.querySelectorAll(".picking input[name=run]")];
const picked = () => JSON.parse(sessionStorage.getItem("picked") || "[]"); // of each box its runs, as JSON

function pick(values) {
  sessionStorage.setItem("picked", JSON.stringify(values));
  showPicked();
}

function showPicked() {
  if (!byId("picked")) return;
  const chosen = picked();
  for (const box of boxes()) box.checked = chosen.includes(box.dataset.runs);
  byId("picked").textContent = chosen.length ? `${chosen.length} chosen` : "";
  byId("unpick").hidden = !chosen.length;
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
  const runs = picked().flatMap((one) => JSON.parse(one));
  if (!runs.length) return void (byId("picked").textContent = "Choose runs first.");
  sessionStorage.removeItem("picked");
  location.href = "/compare?" + new URLSearchParams(runs.map((run) => ["run", run]));
});

byId("unpick")?.addEventListener("click", () => pick([]));
window.addEventListener("pageshow", showPicked);
showPicked();

// ---- tests of differences: each takes a moment, so they come one by one ----

const inPoints = (value) => ((100 * value).toFixed(2).replace(/^-(0\.00)$/, "$1")).replace("-", "−");

async function test(cell, address) {
  const query = new URLSearchParams({ target: cell.closest("tr").dataset.target, column: cell.dataset.column });
  const answer = await fetch(`${address}&${query}`);
  if (!answer.ok) return;
  const found = await answer.json();
  if (found.reason) return void (cell.title = `not tested: ${found.reason}`);
  cell.querySelector(".stars").textContent = found.stars;
  if (found.low !== null && !cell.querySelector("small")) {
    cell.append(element("small", { textContent: `[${inPoints(found.low)}, ${inPoints(found.high)}]` }));
  }
  if (found.p !== null) cell.title = `p = ${found.p.toPrecision(2)} (${found.test}); n = ${found.n}; interval over ${found.over}`;
}

async function testAll(table) {
  const cells = [...table.querySelectorAll("td[data-column]")];
  for (const [i, cell] of cells.entries()) {
    byId("tests-said").textContent = `Testing: ${i} of ${cells.length}.`;
    cell.classList.add("waiting");
    await test(cell, table.dataset.tests).catch(() => {});
    cell.classList.remove("waiting");
  }
  byId("tests-said").textContent = "";
  table.dataset.tested = "true";
}

if (byId("compared")?.dataset.tests) testAll(byId("compared"));

// ---- live progress ----

async function parsed(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(answer.statusText);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

function renew(before, now) {
  // what has the focus keeps it, by its place
  const reached = (part) => [...part.querySelectorAll("a, button, input")], place = reached(before).indexOf(document.activeElement);
  before.replaceWith(now);
  if (place >= 0) reached(now)[place]?.focus({ preventScroll: true });
}

async function look() {
  const before = byId("doing"), now = (await parsed("/now" + location.search)).getElementById("doing");
  const was = before.dataset.version + before.querySelectorAll("li").length;
  if (before.innerHTML !== now.innerHTML || before.dataset.version !== now.dataset.version) before.replaceWith(now);
  if (was === now.dataset.version + now.querySelectorAll("li").length) return;
  const page = await parsed(location.href);
  for (const part of document.querySelectorAll("[data-live]")) renew(part, page.getElementById(part.id));
  showPicked();
}

async function watch() {
  if (!document.hidden) await look().catch(() => {});
  setTimeout(watch, byId("doing").querySelector("li") ? 2000 : 5000);
}

if (byId("doing")) setTimeout(watch, 1000);
