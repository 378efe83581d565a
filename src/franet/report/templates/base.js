"use strict";
// The data of the page, and small helpers. Names reach the page as text, never as HTML.
const report = JSON.parse(document.getElementById("report-data").textContent);
const $ = (id) => document.getElementById(id);
// Not every ranker has a network, and without the table it may know no similarities.
const hasNetwork = report.features.some((f) => f.community !== null);
const hasRelations = report.features.some((f) => f.members !== null);
// Picks that represent the other features: correlations have signs, edges have not.
const isCover = report.cover;
const strength = isCover ? `|${report.measure.symbol}|` : report.measure.symbol;
const rowOfIndex = new Map(report.features.map((f, row) => [f.index, row]));
const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "onclick") node.addEventListener("click", value);
    else node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

function plural(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

function percent(share) {
  const text = Math.min(100 * share, share >= 1 - 1e-9 ? 100 : 99.9).toFixed(1);
  return `${text === "-0.0" ? "0.0" : text.replace("-", "−")} %`;
}

function significant(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  const small = value !== 0 && Math.abs(value) < 1e-4;
  const text = small ? value.toExponential(digits - 1) : String(Number(value.toPrecision(digits)));
  return text.replace("-", "−");
}

// The weight of an edge as people know it: r for correlations.
function similarity(weight) {
  const { offset, high } = report.measure;
  const value = weight + offset;
  return (high === null ? significant(value, 3) : value.toFixed(2)).replace("-", "−");
}

function short(text, length) {
  const letters = Array.from(text);
  return letters.length <= length ? text : letters.slice(0, length - 1).join("") + "…";
}

// Features whose names contain the text, best first; an exact name comes before all.
function find(text) {
  const wanted = fold(text.trim());
  if (!wanted) return [];
  const rows = [];
  folded.forEach((name, row) => { if (name.includes(wanted)) rows.push(row); });
  return rows.sort((a, b) => (folded[b] === wanted) - (folded[a] === wanted) || a - b);
}
const folded = report.features.map((f) => fold(f.name));

// Resolves when the browser has nothing better to do, such as answering a click.
function pause() {
  const wait = window.requestIdleCallback ?? setTimeout;
  return new Promise((go) => wait(go, window.requestIdleCallback ? { timeout: 500 } : 0));
}

// One feature is selected at a time; table, map and panel listen.
const listeners = [];
let selected = null;
function onSelect(listener) { listeners.push(listener); }
function select(row) {
  selected = row;
  for (const listener of listeners) listener(row);
}
