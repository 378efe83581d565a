// Draw, and follow the light: screens turn dark at night, paper never is.
Bokeh.set_log_level("error");
(async () => {
  await drawFigure("figure-map");
  startMap();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => applyColors());
  addEventListener("beforeprint", toPaper);
  addEventListener("afterprint", fromPaper);
  addEventListener("resize", fitHeat);
  document.documentElement.dataset.ready = "map";
  // The rest is further down: the page answers before it is there.
  for (const place of ["figure-explained", "figure-quality", "figure-edges", "figure-heat"]) {
    await pause();
    await drawFigure(place);
  }
  fitHeat();
  drawScale();
  await pause();
  unfold();
  document.documentElement.dataset.ready = "all";
})();
