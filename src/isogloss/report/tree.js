"use strict";
// Dependency trees: the gold tree above the words, the predicted one below, differing arcs dashed; words follow the
// direction of the text. An arc goes from a head to its dependent (arrow tip), outside the shorter arcs that it overlaps.

const LEVEL_PIXELS = 17, CORNER_PIXELS = 8, LINE_PIXELS = 26; // distance of arc levels, radius of corners, height of the words

const svg = (name, attributes, text) => {
  const created = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) created.setAttribute(key, value);
  if (text !== undefined) created.textContent = text;
  return created;
};

function levels(arcs) {
  const spans = arcs.map(([head], i) => (hasHead(arcs, i) ? [Math.min(head - 1, i), Math.max(head - 1, i)] : null));
  const shortest = [...spans.keys()].filter((i) => spans[i]).sort((a, b) => spans[a][1] - spans[a][0] - spans[b][1] + spans[b][0]);
  const heights = arcs.map(() => 1);
  shortest.forEach((i, place) => {
    for (const j of shortest.slice(0, place)) {
      if (spans[j][0] < spans[i][1] && spans[i][0] < spans[j][1]) heights[i] = Math.max(heights[i], heights[j] + 1);
    }
  });
  return heights;
}

const hasHead = (arcs, i) => arcs[i][0] > 0 && arcs[i][0] <= arcs.length && arcs[i][0] !== i + 1; // otherwise the root

function half(arcs, centres, wrong, y, up) {
  // the arcs of one tree, above or below the words
  const heights = levels(arcs), highest = Math.max(...heights), sign = up ? -1 : 1, elements = [];
  arcs.forEach(([head, relation], i) => {
    const x = centres[i], kind = wrong[i] ? "off" : "", root = !hasHead(arcs, i);
    const top = y + sign * LEVEL_PIXELS * (root ? highest + 1 : heights[i]);
    const distance = root ? 0 : x - centres[head - 1], side = Math.sign(distance);
    const from = root ? x : x - distance + side * (3 + 9 / Math.abs(head - 1 - i)); // short arcs start beside long ones
    const round = Math.min(CORNER_PIXELS, Math.abs(x - from) / 2), inner = top - sign * round;
    const line = root ? `M${x} ${top} V${y}`
      : `M${from} ${y} V${inner} Q${from} ${top} ${from + side * round} ${top} H${x - side * round} Q${x} ${top} ${x} ${inner} V${y}`;
    elements.push(svg("path", { class: kind, d: line }));
    elements.push(svg("path", { class: `tip ${kind}`, d: `M${x - 3} ${y + sign * 6} L${x} ${y} L${x + 3} ${y + sign * 6} Z` }));
    elements.push(svg("text", { class: `relation ${kind}`, x: (from + x) / 2, y: top, "text-anchor": "middle", "dominant-baseline": "central" }, short(relation, 16)));
  });
  const named = (tag) => elements.filter((element) => element.tagName === tag);
  return [...named("path"), ...named("text")]; // text stays readable above lines
}

function tree(item, predicted, name) {
  const arcs = predicted.slice(0, item.words.length);
  const relation = (i) => Math.max(item.gold[i][1].length, arcs[i] ? arcs[i][1].length : 0);
  const widths = item.words.map((word, i) => Math.max(44, 8 * Math.min([...word].length, 16) + 14, 6.5 * Math.min(relation(i), 16) + 16));
  const total = widths.reduce((a, b) => a + b, 0) + 20;
  const mirrored = direction(item.words) === "rtl";
  let edge = 10;
  const centres = widths.map((width) => ((edge += width), mirrored ? total - edge + width / 2 : edge - width / 2));
  const treeHeight = (arcs) => LEVEL_PIXELS * (Math.max(0, ...levels(arcs)) + 1) + 12;
  const above = treeHeight(item.gold), height = above + LINE_PIXELS + treeHeight(arcs);
  const wrong = item.gold.map((gold, i) => Boolean(arcs[i]) && tagOf(arcs[i]) !== tagOf(gold));
  const label = `Dependency trees: gold above the words, ${name} below; differing arcs dashed`;
  const picture = svg("svg", { class: "tree", width: total, height, viewBox: `0 0 ${total} ${height}`, role: "img", "aria-label": label });
  picture.append(...half(item.gold, centres, wrong, above, true));
  if (arcs.length) picture.append(...half(arcs, centres, wrong, above + LINE_PIXELS, false));
  item.words.forEach((word, i) => {
    const place = { x: centres[i], y: above + 18, "text-anchor": "middle", direction: RIGHT_TO_LEFT.test(word) ? "rtl" : "ltr" };
    picture.append(svg("text", place, short(word, 16)));
  });
  return element("div", { className: "scroll", dir: direction(item.words), tabIndex: 0, role: "region", ariaLabel: "trees" }, picture);
}
