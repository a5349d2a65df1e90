"use strict";
// Dependency trees: the gold one above the words, the predicted one below, arcs that differ dashed; words run as the
// text does. An arc goes from a head to its dependent, where the tip is, and above all shorter arcs that it overlaps.

const STEP = 17, ROUND = 8, LINE = 26; // pixels: between two levels of arcs, of a corner, of the words

const svg = (name, attributes, text) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
};

function levels(arcs) {
  const spans = arcs.map(([head], i) => (hasHead(arcs, i) ? [Math.min(head - 1, i), Math.max(head - 1, i)] : null));
  const shortest = [...spans.keys()].filter((i) => spans[i]).sort((a, b) => spans[a][1] - spans[a][0] - spans[b][1] + spans[b][0]);
  const found = arcs.map(() => 1);
  shortest.forEach((i, place) => {
    for (const j of shortest.slice(0, place)) {
      if (spans[j][0] < spans[i][1] && spans[i][0] < spans[j][1]) found[i] = Math.max(found[i], found[j] + 1);
    }
  });
  return found;
}

const hasHead = (arcs, i) => arcs[i][0] > 0 && arcs[i][0] <= arcs.length && arcs[i][0] !== i + 1; // else the root

function half(arcs, centres, wrong, y, up) {
  // the arcs of one tree, on one side of the words
  const high = levels(arcs), most = Math.max(...high), sign = up ? -1 : 1, drawn = [];
  arcs.forEach(([head, relation], i) => {
    const x = centres[i], kind = wrong[i] ? "off" : "", root = !hasHead(arcs, i);
    const top = y + sign * STEP * (root ? most + 1 : high[i]);
    const apart = root ? 0 : x - centres[head - 1], way = Math.sign(apart);
    const from = root ? x : x - apart + way * (3 + 9 / Math.abs(head - 1 - i)); // short arcs begin beside long ones
    const round = Math.min(ROUND, Math.abs(x - from) / 2), inner = top - sign * round;
    const line = root ? `M${x} ${top} V${y}`
      : `M${from} ${y} V${inner} Q${from} ${top} ${from + way * round} ${top} H${x - way * round} Q${x} ${top} ${x} ${inner} V${y}`;
    drawn.push(svg("path", { class: kind, d: line }));
    drawn.push(svg("path", { class: `tip ${kind}`, d: `M${x - 3} ${y + sign * 6} L${x} ${y} L${x + 3} ${y + sign * 6} Z` }));
    drawn.push(svg("text", { class: `relation ${kind}`, x: (from + x) / 2, y: top, "text-anchor": "middle", "dominant-baseline": "central" }, short(relation, 16)));
  });
  const lines = drawn.filter((one) => one.tagName === "path"), texts = drawn.filter((one) => one.tagName === "text");
  return [...lines, ...texts]; // what is written stays readable
}

function tree(item, predicted, name) {
  const arcs = predicted.slice(0, item.words.length);
  const relation = (i) => Math.max(item.gold[i][1].length, arcs[i] ? arcs[i][1].length : 0);
  const widths = item.words.map((word, i) => Math.max(44, 8 * Math.min([...word].length, 16) + 14, 6.5 * Math.min(relation(i), 16) + 16));
  const total = widths.reduce((a, b) => a + b, 0) + 20;
  const mirrored = way(item.words) === "rtl";
  let edge = 10;
  const centres = widths.map((width) => ((edge += width), mirrored ? total - edge + width / 2 : edge - width / 2));
  const room = (own) => STEP * (Math.max(0, ...levels(own)) + 1) + 12;
  const above = room(item.gold), height = above + LINE + room(arcs);
  const wrong = item.gold.map((gold, i) => Boolean(arcs[i]) && tagOf(arcs[i]) !== tagOf(gold));
  const label = `Dependency trees: gold above the words, ${name} below; differing arcs dashed`;
  const picture = svg("svg", { class: "tree", width: total, height, viewBox: `0 0 ${total} ${height}`, role: "img", "aria-label": label });
  picture.append(...half(item.gold, centres, wrong, above, true));
  if (arcs.length) picture.append(...half(arcs, centres, wrong, above + LINE, false));
  item.words.forEach((word, i) => {
    const place = { x: centres[i], y: above + 18, "text-anchor": "middle", direction: RIGHT_TO_LEFT.test(word) ? "rtl" : "ltr" };
    picture.append(svg("text", place, short(word, 16)));
  });
  return element("div", { className: "scroll", dir: way(item.words), tabIndex: 0, role: "region", ariaLabel: "trees" }, picture);
}
