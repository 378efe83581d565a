// The panel: one feature in words, and its neighbours.
const welcome = Array.from($("panel-content").childNodes);

function linked(entry) {
  const row = rowOfIndex.get(entry.index);
  const name = element("bdi", { title: entry.name }, short(entry.name, 60));
  return row === undefined ? name : element("button", { type: "button", onclick: () => select(row) }, name);
}

function chip(f) {
  if (f.community < 0) return "none";
  const community = report.communities.find((c) => c.label === f.community);
  return element("span", { class: "chip" }, element("span", { class: "dot", style: community ? `background:${community.color}` : "background:#8d96a1" }), String(f.community + 1));
}

function facts(f) {
  const list = element("dl");
  for (const [term, value] of [
    ["rank", `${f.rank.toLocaleString("en")} of ${report.n_features.toLocaleString("en")}`],
    ...(isCover ? (f.explained === null ? [] : [["explained", percent(f.explained)], ["increase", percent(f.increase)]]) : [["score", significant(f.score)]]),
    ...(isCover ? [["group", chip(f)]] : hasNetwork ? [["community", chip(f)], ["neighbours", f.n_neighbors.toLocaleString("en")]] : []),
    ["selected", f.selected ? "yes" : "no"],
    ...sure(f.stability),
  ]) list.append(element("dt", {}, term), element("dd", {}, value));
  return list;
}

// How sure its rank is, where this was measured.
function sure(found) {
  if (!found) return [];
  const ranks = ["ranks in half-samples", `${found.rank_low.toLocaleString("en")} to ${found.rank_high.toLocaleString("en")}`];
  if (found.held === null) return [ranks];
  // An estimate says 0 and 100 % only where that is so.
  const percent = (share) => share >= 0.995 && share < 1 ? "more than 99 %" : share > 0 && share < 0.005 ? "less than 1 %" : `${Math.round(100 * share)} %`;
  return [
    ranks,
    ["picked again", percent(found.picked_again)],
    ["or alike", found.stand_ins.length ? `${percent(found.held)}: ${found.stand_ins.map((name) => short(name, 24)).join(", ")}` : percent(found.held)],
  ];
}

function neighbours(f) {
  const list = element("ol");
  for (const other of f.neighbors) {
    list.append(element("li", {}, linked(other), element("span", { class: "quiet num nowrap" }, report.measure.weighted ? similarity(other.weight) : "")));
  }
  return list;
}

function why(f) {
  if (!hasNetwork) return `No better listed feature has |${report.measure.symbol}| ≥ ${report.measure.least} with it.`;
  if (!f.n_neighbors) return "It has no edge at the winning threshold.";
  if (!f.representative) return "None of its neighbours ranks higher: it speaks for itself.";
  return null;
}

function showPanel(row) {
  $("panel").classList.toggle("open", row !== null);
  $("panel-close").hidden = row === null;
  if (row === null) {
    $("panel-title").textContent = "Feature";
    $("panel-content").replaceChildren(...welcome);
    return;
  }
  const f = report.features[row];
  $("panel-title").replaceChildren(element("bdi", {}, f.name));
  $("panel-content").replaceChildren(facts(f), ...(isCover ? roles(f) : hasRelations ? relations(f) : []));
  $("panel-content").parentNode.scrollTop = 0;
}

// A representative and the closest of those it represents, or what represents it.
function roles(f) {
  const { symbol } = report.measure;
  if (f.representative) {
    const sign = element("span", { class: "quiet num nowrap" }, `${symbol} = ${similarity(f.representative.weight)}`);
    return [element("h3", {}, "Represented by"), element("ol", {}, element("li", {}, linked(f.representative), sign))];
  }
  if (f.is_left) return [element("p", {}, "No representative resembles it more than chance would let it.")];
  if (!f.is_pick) return [element("p", {}, "It is constant: it has nothing to represent.")];
  if (!f.members.count) return [element("p", {}, "It represents itself alone.")];
  const more = f.members.count > f.neighbors.length ? `The closest ${f.neighbors.length}, by ${symbol}` : `By ${symbol}`;
  return [
    element("h3", {}, `Represents ${plural(f.members.count, "feature")}`),
    element("p", {}, `mean |${symbol}| ${similarity(f.members.mean)}`),
    element("h3", {}, more),
    neighbours(f),
  ];
}

// What it is like, what it stands for, and its neighbours.
function relations(f) {
  const parts = [];
  if (f.representative) {
    const strength = report.measure.weighted ? ` (${report.measure.symbol} = ${similarity(f.representative.weight)})` : "";
    const item = element("ol", {}, element("li", {}, linked(f.representative), element("span", { class: "quiet num nowrap" }, strength)));
    parts.push(element("h3", {}, "Most like, of those that rank higher"), item);
  } else parts.push(element("p", {}, why(f)));
  if (f.members.count) {
    const names = f.members.features.map((name) => short(name, 40)).join(", ");
    const more = f.members.count > f.members.features.length ? " …" : "";
    parts.push(element("h3", {}, `Stands for ${plural(f.members.count, "feature")}`), element("p", { dir: "auto", style: "overflow-wrap:anywhere" }, names + more));
  }
  if (f.neighbors.length) {
    const title = !hasNetwork ? "Closest of those listed" : f.n_neighbors > f.neighbors.length ? `Strongest ${f.neighbors.length} of ${f.n_neighbors.toLocaleString("en")} neighbours` : "Neighbours";
    parts.push(element("h3", {}, report.measure.weighted ? `${title}, by ${report.measure.symbol}` : title), neighbours(f));
  }
  return parts;
}

onSelect(showPanel);
$("panel-close").addEventListener("click", () => select(null));
document.addEventListener("keydown", (event) => { if (event.key === "Escape" && selected !== null) select(null); });
