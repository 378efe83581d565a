// The figures, drawn by Bokeh from the documents in the page, in the page's colours.
const documents = new Map();
const figures = JSON.parse($("report-figures").textContent);

async function drawFigure(place) {
  if (!figures[place]) return;
  const { doc, root } = figures[place];
  const items = [{ docid: place, roots: { [root]: place }, root_ids: [root] }];
  await Bokeh.embed.embed_items({ [place]: doc }, items);
  documents.set(place, Bokeh.documents.at(-1));
  applyColors();
}

function model(place, name) {
  const doc = documents.get(place);
  return doc ? doc.get_model_by_name(name) : null;
}

const variable = (name, paper) => getComputedStyle(paper ? $("paper") : document.documentElement).getPropertyValue(`--${name}`).trim();

// Bokeh paints on a canvas, which style sheets do not reach.
function applyColors(paper = false) {
  const [text, quiet, line, card, edge] = ["text", "quiet", "line", "card", "edge"].map((name) => variable(name, paper));
  for (const doc of documents.values()) {
    for (const root of doc.roots()) {
      for (const part of [...root.below, ...root.left, ...root.center]) {
        if (part.type.endsWith("Grid")) part.grid_line_color = line;
        if (!part.type.endsWith("Axis")) continue;
        part.major_label_text_color = quiet;
        part.axis_label_text_color = quiet;
        part.axis_label_text_font_style = "normal";
        part.axis_line_color = part.axis_line_color === null ? null : line;
        part.major_tick_line_color = part.major_tick_line_color === null ? null : line;
      }
    }
  }
  const glyph = (name) => model("figure-map", name)?.glyph;
  if (!glyph("edge-lines")) return;
  glyph("edge-lines").line_color = { value: edge };
  glyph("spoke-lines").line_color = { value: edge };
  glyph("node-points").line_color = { value: card };
  glyph("node-labels").text_color = { value: text };
  glyph("node-labels").background_fill_color = { value: card };
}

// Paper is light and has its own width: figures are printed as pictures.
function toPaper() {
  applyColors(true);
  for (const [place, doc] of documents) {
    const view = Bokeh.index.find_one(doc.roots()[0]);
    if (!view) continue;
    // New colours come with the next frame otherwise, and paper does not wait for it.
    for (const part of view.renderer_views.values()) part.set_visuals?.();
    const picture = element("img", { class: "paper", alt: $(place).getAttribute("aria-label") });
    picture.src = view.export("png", true).canvas.toDataURL();
    $(place).append(picture);
  }
}

function fromPaper() {
  for (const picture of document.querySelectorAll("img.paper")) picture.remove();
  applyColors();
}

// On a narrow screen the names along the bottom would leave no room for the cells.
function fitHeat() {
  const heat = documents.get("figure-heat")?.roots()[0];
  if (!heat) return;
  const narrow = $("figure-heat").clientWidth < 560;
  heat.below[0].visible = !narrow;
  heat.left[0].major_label_text_font_size = narrow ? "7px" : "11px";
}

function drawScale() {
  const heat = documents.get("figure-heat");
  if (!heat) return;
  const mapper = heat.roots()[0].renderers[0].glyph.fill_color.transform;
  const hex = mapper.palette.map((c) => (typeof c === "number" ? "#" + (c >>> 8).toString(16).padStart(6, "0") : c));
  $("heat-ramp").style.background = `linear-gradient(to right, ${hex.join(",")})`;
  $("heat-low").textContent = significant(mapper.low, 3);
  $("heat-high").textContent = significant(mapper.high, 3);
}
