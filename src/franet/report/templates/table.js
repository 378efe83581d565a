// The ranking table: search, filter, sort, copy, and rows that the keyboard reaches.
const tbody = $("table").tBodies[0];
const tableRows = Array.from(tbody.rows);
const sortKeys = {
  rank: (f) => f.rank,
  name: (f) => f.name,
  score: (f) => (isCover ? f.explained : f.score) ?? -Infinity,
  held: (f) => f.stability?.held ?? -Infinity,
  community: (f) => (f.community < 0 ? Infinity : f.community),
  stands: (f) => f.members.count,
  weight: (f) => (f.representative ? Math.abs(f.representative.weight) : -Infinity),
};
const largestFirst = new Set(["score", "held", "stands", "weight"]);
const allStatus = $("table-status").textContent;

// Most rows of a long table are laid out after the page has opened.
function unfold() { $("table").classList.remove("folded"); }

function filterTable() {
  unfold();
  const wanted = fold($("table-search").value.trim());
  const community = $("table-community")?.value ?? "";
  const only = $("table-selected").checked;
  let count = 0;
  for (const row of tableRows) {
    const f = report.features[row.dataset.row];
    const fits =
      (!wanted || folded[row.dataset.row].includes(wanted)) &&
      (community === "" || String(f.community) === community) &&
      (!only || f.selected);
    row.hidden = !fits;
    count += fits;
  }
  const all = count === tableRows.length;
  $("table-status").textContent = all ? allStatus : `${plural(count, "feature")} of ${tableRows.length.toLocaleString("en")} listed`;
  $("table-empty").hidden = count > 0;
  const first = shownRows()[0];
  if (first) focusable(first);
}

function shownRows() {
  return Array.from(tbody.rows).filter((row) => !row.hidden);
}

function sortTable(button) {
  unfold();
  const head = button.closest("th");
  const key = sortKeys[button.dataset.key];
  const before = head.getAttribute("aria-sort");
  const first = largestFirst.has(button.dataset.key) ? "descending" : "ascending";
  const other = first === "ascending" ? "descending" : "ascending";
  const direction = before === first ? other : first;
  for (const th of head.parentNode.cells) th.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", direction);
  const sign = direction === "ascending" ? 1 : -1;
  const value = tableRows.map((row) => key(report.features[row.dataset.row]));
  const order = tableRows.map((_, i) => i).sort((a, b) => {
    const [x, y] = [value[a], value[b]];
    const difference = typeof x === "string" ? collator.compare(x, y) : x === y ? 0 : x < y ? -1 : 1;
    return sign * difference || a - b;
  });
  tbody.append(...order.map((i) => tableRows[i]));
}

// Only one row is in the tab order; arrow keys move it.
function focusable(row) {
  const old = tbody.querySelector('tr[tabindex="0"]');
  if (old) old.tabIndex = -1;
  row.tabIndex = 0;
}

function moveFocus(event) {
  const row = event.target.closest("tr");
  if (!row || event.target !== row) return;
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    select(Number(row.dataset.row));
    return;
  }
  unfold();
  const rows = shownRows();
  const at = rows.indexOf(row);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
  if (to === undefined || !rows[to]) return;
  event.preventDefault();
  focusable(rows[to]);
  rows[to].focus();
}

async function copyTable() {
  const clean = (text) => String(text).replace(/[\t\r\n]+/g, " ");
  const columns = {
    rank: (f) => f.rank, feature: (f) => f.name, index: (f) => f.index, ...(!isCover && { score: (f) => f.score }), selected: (f) => f.selected,
    ...(report.features.some((f) => f.stability) && { "picked again": (f) => f.stability.picked_again ?? "", "or alike": (f) => f.stability.held ?? "" }),
    ...(hasNetwork && { community: (f) => (f.community < 0 ? "" : f.community + 1) }),
    ...(isCover && { explained: (f) => f.explained ?? "", increase: (f) => f.increase ?? "", [`mean ${strength}`]: (f) => f.members.mean ?? "" }),
    ...(hasRelations && {
      [isCover ? "represents" : "stands for"]: (f) => f.members.count,
      [isCover ? "represented by" : "most like"]: (f) => f.representative?.name ?? "",
      [report.measure.symbol]: (f) => (f.representative ? f.representative.weight + report.measure.offset : ""),
    }),
  };
  const line = (f) => Object.values(columns).map((cell) => clean(cell(f))).join("\t");
  const lines = shownRows().map((row) => line(report.features[row.dataset.row]));
  const text = [Object.keys(columns).join("\t"), ...lines].join("\n") + "\n";
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Some browsers give the clipboard only to pages from a server.
    const area = element("textarea", { "aria-hidden": "true", style: "position:fixed;top:0;opacity:0" });
    area.value = text;
    document.body.append(area);
    area.select();
    done = document.execCommand("copy");
    area.remove();
  }
  $("table-status").textContent = done ? `Copied ${plural(lines.length, "row")}, to paste into a spreadsheet` : "This browser does not let the page copy; select the table instead";
}

$("table-search").addEventListener("input", filterTable);
$("table-community")?.addEventListener("change", filterTable);
$("table-selected").addEventListener("change", filterTable);
$("table-copy").addEventListener("click", copyTable);
$("table").tHead.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button) sortTable(button);
});
tbody.addEventListener("click", (event) => {
  const row = event.target.closest("tr");
  if (!row) return;
  focusable(row);
  select(Number(row.dataset.row));
});
tbody.addEventListener("keydown", moveFocus);
onSelect((row) => {
  for (const other of tbody.querySelectorAll("tr[aria-current]")) other.removeAttribute("aria-current");
  if (row !== null) tableRows[row].setAttribute("aria-current", "true");
});
