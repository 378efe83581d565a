// The network map: highlights, labels that do not overlap, the search and the slider.
const { row: rowOfNode, a: edgeA, b: edgeB, weight: edgeWeight, steps } = report.map;
const nodeOfRow = new Map(rowOfNode.map((row, node) => [row, node]));
const hubs = new Set(report.communities.map((c) => c.hub_index));
const map = { step: 0, community: null, found: [], busy: false };

const edgeShown = (edge) => map.step === 0 || edgeWeight[edge] >= steps[map.step].weight - 1e-6;

const communityOf = (node) => report.features[rowOfNode[node]].community;
// Edges between communities are many and long: they stay in the background.
const across = rowOfNode.length > 60 ? 0.14 : 0.3;

// The strongest neighbours of a node that are on the map, as far as the slider lets them.
function spokes(centre) {
  const limit = map.step === 0 ? -Infinity : steps[map.step].weight - 1e-6;
  return report.features[rowOfNode[centre]].neighbors
    .filter((other) => (isCover ? Math.abs(other.weight) : other.weight) >= limit)
    .map((other) => nodeOfRow.get(rowOfIndex.get(other.index)))
    .filter((node) => node !== undefined);
}

// Which nodes stand out, and null if none does.
function highlighted() {
  if (selected !== null && nodeOfRow.has(selected)) {
    const centre = nodeOfRow.get(selected);
    const near = new Set([centre]);
    edgeA.forEach((a, edge) => {
      if (!edgeShown(edge)) return;
      if (a === centre) near.add(edgeB[edge]);
      if (edgeB[edge] === centre) near.add(a);
    });
    for (const node of spokes(centre)) near.add(node);
    return { nodes: near, centre };
  }
  const found = map.found.filter((row) => nodeOfRow.has(row)).map((row) => nodeOfRow.get(row));
  if (found.length) return { nodes: new Set(found), centre: null };
  if (map.community !== null) {
    return { nodes: new Set(rowOfNode.flatMap((row, node) => (report.features[row].community === map.community ? [node] : []))), centre: null };
  }
  return null;
}

function paintMap() {
  const nodes = model("figure-map", "nodes"), edges = model("figure-map", "edges");
  if (!nodes) return;
  const bright = highlighted();
  const connected = new Set();
  const alpha = edgeA.map((a, edge) => {
    const b = edgeB[edge];
    if (!edgeShown(edge)) return 0;
    connected.add(a).add(b);
    if (!bright) return communityOf(a) === communityOf(b) ? 0.5 : across;
    const inside = bright.centre === null ? bright.nodes.has(a) && bright.nodes.has(b) : a === bright.centre || b === bright.centre;
    return inside ? 0.9 : 0.06;
  });
  edges.data = { ...edges.data, alpha };
  nodes.data = {
    ...nodes.data,
    alpha: rowOfNode.map((_, node) => (bright ? (bright.nodes.has(node) ? 1 : 0.15) : connected.has(node) ? 0.95 : 0.3)),
    line: rowOfNode.map((_, node) => (bright && node === bright.centre ? 3 : 1)),
  };
  const ends = bright && bright.centre !== null ? spokes(bright.centre) : [];
  const { x, y } = nodes.data;
  model("figure-map", "spokes").data = {
    x0: ends.map(() => x[bright.centre]), y0: ends.map(() => y[bright.centre]),
    x1: ends.map((node) => x[node]), y1: ends.map((node) => y[node]),
  };
  placeLabels(bright);
  tellMap(alpha.filter((value) => value > 0).length);
  $("map-clear").disabled = selected === null && map.community === null && !map.found.length && map.step === 0;
}

function tellMap(drawn) {
  const step = steps[map.step];
  if (!step) return;
  const whole = `${plural(step.n_edges, "edge")} in the whole network, ${plural(step.n_connected, "feature")} with an edge`;
  $("map-status").textContent = `${drawn.toLocaleString("en")} of ${plural(edgeA.length, "edge")} drawn · ${whole}`;
}

// Names of hubs and of what is highlighted, as many as fit without touching.
const touch = (a, b) => a[0] < b[2] && a[2] > b[0] && a[1] < b[3] && a[3] > b[1];
const pen = document.createElement("canvas").getContext("2d");
function placeLabels(bright) {
  const figure = model("figure-map", "map"), nodes = model("figure-map", "nodes"), labels = model("figure-map", "labels");
  const { inner_width: width, inner_height: height } = figure;
  if (!width || !height) return;
  const sx = width / (figure.x_range.end - figure.x_range.start), sy = height / (figure.y_range.end - figure.y_range.start);
  const toX = (x) => (x - figure.x_range.start) * sx, toY = (y) => (figure.y_range.end - y) * sy;
  pen.font = "bold 12px sans-serif";
  const importance = (node) => {
    const row = rowOfNode[node];
    if (bright && node === bright.centre) return -2e6;
    const group = bright ? (bright.nodes.has(node) ? -1e6 : 1e6) : hubs.has(report.features[row].index) ? -1e6 : 0;
    return group + row;
  };
  const order = rowOfNode.map((_, node) => node).filter((node) => !bright || bright.nodes.has(node)).sort((a, b) => importance(a) - importance(b));
  const limit = Math.max(6, Math.round((width * height) / (bright || rowOfNode.length < 60 ? 14000 : 24000)));
  const discs = rowOfNode.map((_, node) => {
    const x = toX(nodes.data.x[node]), y = toY(nodes.data.y[node]), r = nodes.data.size[node] / 2;
    return [x - r, y - r, x + r, y + r];
  });
  const boxes = [], data = { x: [], y: [], text: [], up: [], style: [] };
  for (const node of order) {
    if (boxes.length >= limit) break;
    const x = toX(nodes.data.x[node]), y = toY(nodes.data.y[node]);
    if (x < 0 || x > width || y < 0 || y > height) continue;
    const feature = report.features[rowOfNode[node]];
    const hub = hubs.has(feature.index) && feature.community >= 0;
    const text = (hub ? `${feature.community + 1} · ` : "") + short(feature.name, width < 500 ? 16 : 24);
    const half = pen.measureText(text).width / 2 + 5, away = nodes.data.size[node] / 2 + 2;
    // Above the point or below it; over another point only where names are many.
    const places = [-away, away + 17].map((up) => ({ up, box: [x - half, y + up - 18, x + half, y + up + 1] }));
    const free = places.filter(({ box }) => box[0] >= 0 && box[2] <= width && box[1] >= 0 && box[3] <= height && !boxes.some((other) => touch(box, other)));
    const clear = free.filter(({ box }) => !discs.some((disc, other) => other !== node && (!bright || bright.nodes.has(other)) && touch(box, disc)));
    const place = clear[0] ?? (hub || node === bright?.centre ? free[0] : undefined);
    if (!place) continue;
    boxes.push(place.box);
    data.x.push(nodes.data.x[node]);
    data.y.push(nodes.data.y[node]);
    data.text.push(text);
    data.up.push(place.up);
    data.style.push(hub || (bright && node === bright.centre) ? "bold" : "normal");
  }
  labels.data = data;
}

function searchMap() {
  map.found = find($("map-search").value);
  const box = $("map-found");
  box.replaceChildren(...map.found.slice(0, 8).map((row) => {
    const name = element("bdi", {}, short(report.features[row].name, 32));
    const drawn = nodeOfRow.has(row) ? "" : " (not drawn)";
    return element("button", { type: "button", onclick: () => select(row) }, name, drawn);
  }));
  const none = $("map-search").value.trim() && !map.found.length;
  if (none) box.append(element("span", { class: "quiet" }, "No listed feature has this in its name."));
  if (map.found.length > 8) box.append(element("span", { class: "quiet" }, `and ${map.found.length - 8} more`));
  box.hidden = !box.childNodes.length;
  if (selected !== null) select(null);
  else paintMap();
}

function moveSlider() {
  map.step = Number($("map-slider").value);
  const value = significant(steps[map.step].weight + report.measure.offset, 3);
  $("map-threshold").textContent = value;
  $("map-slider").setAttribute("aria-valuetext", `${strength} at least ${value}`);
  paintMap();
}

function pressCommunity(button) {
  const label = Number(button.dataset.community);
  map.community = map.community === label ? null : label;
  for (const other of $("map-legend").querySelectorAll("button")) {
    other.setAttribute("aria-pressed", String(Number(other.dataset.community) === map.community));
  }
  if (selected !== null) select(null);
  else paintMap();
}

function clearMap() {
  map.community = null;
  map.found = [];
  map.step = 0;
  $("map-search").value = "";
  $("map-found").hidden = true;
  if ($("map-slider")) { $("map-slider").value = 0; moveSlider(); }
  for (const button of $("map-legend").querySelectorAll("button")) button.setAttribute("aria-pressed", "false");
  select(null);
}

function startMap() {
  const figure = model("figure-map", "map"), nodes = model("figure-map", "nodes");
  if (!figure) return;
  // A finger that scrolls the page should not be caught by the map.
  if (matchMedia("(pointer: coarse)").matches) figure.toolbar.active_drag = null;
  nodes.selected.properties.indices.change.connect(() => {
    if (map.busy) return;
    const [node] = nodes.selected.indices;
    select(node === undefined ? null : rowOfNode[node]);
  });
  let waiting = 0;
  const later = () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(() => placeLabels(highlighted())); };
  for (const range of [figure.x_range, figure.y_range]) range.change.connect(later);
  figure.properties.inner_width.change.connect(later);
  figure.properties.inner_height.change.connect(later);
  onSelect((row) => {
    map.busy = true;
    nodes.selected.indices = row !== null && nodeOfRow.has(row) ? [nodeOfRow.get(row)] : [];
    map.busy = false;
    paintMap();
  });
  $("map-search").addEventListener("input", searchMap);
  $("map-search").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && map.found.length) select(map.found[0]);
  });
  $("map-slider")?.addEventListener("input", moveSlider);
  $("map-clear").addEventListener("click", clearMap);
  $("map-legend").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) pressCommunity(button);
  });
  paintMap();
}
