"use strict";
// Cells on two canvases: by the level of a gene, and by their type.
const { cells, genes, types } = JSON.parse(document.getElementById("report-data").textContent);
const $ = (id) => document.getElementById(id);
const levels = cells.level.map((text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
const rows = [...document.querySelectorAll("#table tbody tr")];
const OTHER = "#8d96a1", SIDE = 1000, MARGIN = 12;
let shown = 0, pressed = null;

const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;

// From the color of the card to a dark (or, at night, light) blue.
function shade(level) {
  const [from, to] = isDark() ? [[48, 56, 66], [150, 214, 255]] : [[222, 227, 232], [8, 60, 110]];
  const share = level / 255;
  return `rgb(${from.map((c, i) => Math.round(c + share * (to[i] - c))).join(" ")})`;
}

// Those of high rank are drawn last: nothing hides them.
function draw(canvas, color, rank) {
  const width = canvas.parentElement.clientWidth, ratio = devicePixelRatio || 1;
  const side = Math.min(width, 560);
  canvas.style.width = canvas.style.height = `${side}px`;
  canvas.width = canvas.height = Math.round(side * ratio);
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  const scale = (side - 2 * MARGIN) / SIDE;
  const size = Math.max(1.5, Math.min(4, 90 / Math.sqrt(cells.x.length)));
  const order = cells.x.map((_, i) => i).sort((a, b) => rank(a) - rank(b) || a - b);
  for (const i of order) {
    context.fillStyle = color(i);
    context.beginPath();
    context.arc(MARGIN + scale * cells.x[i], side - MARGIN - scale * cells.y[i], size, 0, 7);
    context.fill();
  }
}

function number(value) {
  return String(Number(value.toPrecision(3))).replace("-", "−");
}

function drawGene() {
  const level = levels[shown];
  draw($("by-gene"), (i) => shade(level[i]), (i) => level[i]);
  $("cells-status").textContent = `Cells by ${genes[shown]}`;
  $("gene-scale").textContent = `pale ${number(cells.low[shown])}, ${isDark() ? "bright" : "dark"} ${number(cells.high[shown])}`;
}

function drawTypes() {
  if (!$("by-type")) return;
  const known = cells.type || cells.x.map(() => -1);
  const fits = (i) => pressed === null || known[i] === pressed;
  const color = (i) => (known[i] < 0 || !fits(i) ? (isDark() ? "#39424c" : "#dde1e6") : types[known[i]].color || OTHER);
  draw($("by-type"), color, (i) => (known[i] < 0 || !fits(i) ? 0 : 1));
}

function show(gene) {
  shown = gene;
  $("gene").value = String(gene);
  rows.forEach((row, at) => row.setAttribute("aria-current", String(at === gene)));
  drawGene();
}

function press(at, buttons) {
  pressed = pressed === at ? null : at;
  buttons.forEach((each, i) => each.setAttribute("aria-pressed", String(i === pressed)));
  drawTypes();
}

$("gene").addEventListener("change", () => show(Number($("gene").value)));
rows.forEach((row, at) => {
  row.addEventListener("click", () => show(at));
  row.addEventListener("keydown", (event) => {
    if (event.key === "Enter") show(at);
    const next = { ArrowDown: rows[at + 1], ArrowUp: rows[at - 1] }[event.key];
    if (next) { event.preventDefault(); next.focus(); }
  });
});
if ($("type-legend")) {
  const buttons = types.map((type, at) => {
    const button = document.createElement("button"), dot = document.createElement("span"), name = document.createElement("bdi");
    button.type = "button";
    button.className = "chip";
    button.setAttribute("aria-pressed", "false");
    dot.className = "dot";
    dot.style.background = type.color;
    name.textContent = type.name;
    button.append(dot, name);
    button.addEventListener("click", () => press(at, buttons));
    return button;
  });
  $("type-legend").append(...buttons);
}
function redraw() { drawGene(); drawTypes(); }
addEventListener("resize", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
show(0);
drawTypes();
document.documentElement.dataset.ready = "all";
