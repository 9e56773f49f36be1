// Draws the figure with Plotly.react: never two at once, never losing the last.
const library = (globalThis.__scalkitPlotly ??= Promise.withResolvers()).promise;
const LIGHT_COLOURS = new RegExp(Object.keys(SK_DARK).map((s) => s.replace(/[()]/g, "\\$&")).join("|"), "g");
const scheme = matchMedia("(prefers-color-scheme: dark)");

// JupyterLab says it itself; elsewhere the page follows the system only if it declares both schemes.
function isDark() {
  const said = document.body.dataset.jpThemeLight;
  if (said) return said === "false";
  return scheme.matches && /dark/.test(getComputedStyle(document.documentElement).colorScheme);
}

function ready(figure, width, { xrange, yrange, terms }) {
  const dark = isDark(), text = JSON.stringify(figure);
  const { data: all = [], layout = {} } = JSON.parse(dark ? text.replace(LIGHT_COLOURS, (s) => SK_DARK[s]) : text);
  for (const trace of all) if (trace.visible === false && trace.meta?.growth) trace.visible = terms.includes(trace.meta.growth);
  const places = all.map((_, k) => k).filter((k) => all[k].visible !== false), data = places.map((k) => all[k]);
  layout.paper_bgcolor = layout.plot_bgcolor = "rgba(0,0,0,0)";
  if (dark) layout.font = { ...layout.font, color: layout.font?.color ?? SK_COLOURS.ink[1] };
  layout.hoverlabel = { ...layout.hoverlabel, bgcolor: SK_COLOURS.paper[+dark], bordercolor: SK_COLOURS.quiet[0], font: { ...layout.hoverlabel?.font, color: SK_COLOURS.ink[+dark] } };
  if (width && width < 420 && layout.margin) layout.margin = { ...layout.margin, l: Math.min(layout.margin.l ?? 80, 54), r: 8 };
  if (width && width < 420 && layout.height < 300) layout.height += 50; // its legend takes more lines
  if (width) layout.width = Math.max(width, layout.meta?.wide ?? 0); // what is wider than its place is scrolled
  if (xrange.length === 2) layout.xaxis = { ...layout.xaxis, range: [...xrange], autorange: false };
  if (yrange) layout.yaxis = { ...layout.yaxis, range: [...yrange], autorange: false };
  const config = { ...SK_PLOTLY, displayModeBar: "hover", doubleClick: false,
    modeBarButtonsToRemove: [...SK_PLOTLY.modeBarButtonsToRemove, "resetScale2d"] };
  return { data, layout, config, places };
}

function render({ model, el, signal }) {
  el.classList.add("sk-plot");
  const box = document.createElement("div");
  el.append(box);
  let Plotly = null, isWanted = false, isRunning = false, isBound = false, isGone = false, drawnWidth = 0, drawnTerms = "", count = 0;
  let reset = () => {}, places = [], drawn = ""; // where the visible curves stand in the figure; what is on the screen
  let height = null; // what was zoomed of the y axis, and of which one: it lasts while the figure has the same

  async function draw() {
    isWanted = true;
    if (isRunning) return;
    isRunning = true;
    try {
      await null; // what happens now is sent to Python first, and one drawing shows all of it
      Plotly ??= await library;
      while (isWanted && !isGone) {
        isWanted = false;
        drawnWidth = el.clientWidth || drawnWidth; // none for a moment, while JupyterLab changes its theme
        drawnTerms = pointed();
        if (height?.of !== yaxis()) height = null;
        const { data, layout, config, ...of } = ready(model.get("figure"), drawnWidth,
          { xrange: model.get("xrange"), yrange: height?.range, terms: [model.get("hover"), model.get("term")] });
        places = of.places;
        config.modeBarButtonsToAdd = [{ name: "reset", title: "Reset axes", icon: Plotly.Icons.home, click: () => reset() }];
        const wanted = JSON.stringify([data, layout]);
        el.style.overflowX = drawnWidth && layout.width > drawnWidth ? "auto" : "";
        if (wanted !== drawn) await Plotly.react(box, data, layout, config); // most edits change curves that are hidden
        drawn = wanted;
        describe();
        if (!isBound) { isBound = true; bind(); }
      }
    } finally {
      isRunning = false;
    }
    if (isGone) return;
    el.dataset.drawn = String(++count);
    el.dispatchEvent(new CustomEvent("sk-drawn"));
  }

  const yaxis = () => JSON.stringify(model.get("figure").layout?.yaxis ?? {});

  // Curves that are hidden until somebody points at their growth.
  const pointed = () => {
    const wanted = [model.get("hover"), model.get("term")];
    const { data = [] } = model.get("figure");
    return data.filter((one) => one.visible === false && wanted.includes(one.meta?.growth)).map((one) => one.meta.growth).join(" ");
  };
  const drawTerms = () => { if (pointed() !== drawnTerms) draw(); };

  // The picture itself is the image; its tool bar stays a set of buttons beside it.
  function describe() {
    box.querySelectorAll(".main-svg").forEach((svg, k) => {
      if (k) svg.setAttribute("aria-hidden", "true");
      else { svg.setAttribute("role", "img"); svg.setAttribute("aria-label", model.get("alt") || "figure"); }
    });
    for (const link of box.querySelectorAll(".modebar-btn")) link.setAttribute("aria-label", link.dataset.title ?? "tool");
  }

  function bind() {
    let n = 0;
    const save = (name, value) => { model.set(name, value); model.save_changes(); };
    const point = ({ points: [p] }) => ({ curve: places[p.curveNumber] ?? p.curveNumber, point: p.pointNumber, x: p.x, y: p.y, name: p.data.name ?? "", n: ++n });
    box.on("plotly_click", (event) => save("clicked", point(event)));
    let mine = "";
    const hover = (growth) => { if (growth || mine) save("hover", growth); mine = growth; };
    box.on("plotly_hover", (event) => hover(event.points[0].data.meta?.growth ?? ""));
    box.on("plotly_unhover", () => hover(""));
    box.on("plotly_relayout", (event) => {
      if ("yaxis.range[0]" in event) height = { range: [event["yaxis.range[0]"], event["yaxis.range[1]"]], of: yaxis() };
      else if (event["yaxis.autorange"]) height = null;
      if ("xaxis.range[0]" in event) save("xrange", [event["xaxis.range[0]"], event["xaxis.range[1]"]]);
      else if (Array.isArray(event["xaxis.range"])) save("xrange", event["xaxis.range"]);
      else if (event["xaxis.autorange"] || event["xaxis.showspikes"] === false) save("xrange", []);
    });
    // Plotly itself would go back to the ranges of the figure that was drawn first, and call them a zoom.
    reset = () => { drawn = ""; height = null; save("xrange", []); draw(); };
    box.on("plotly_doubleclick", () => reset());
  }

  const heard = { figure: draw, xrange: draw, alt: draw, hover: drawTerms, term: drawTerms };
  for (const [name, action] of Object.entries(heard)) model.on(`change:${name}`, action);
  const theme = new MutationObserver(draw);
  theme.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
  scheme.addEventListener("change", draw);
  const size = new ResizeObserver(() => { if (el.clientWidth && el.clientWidth !== drawnWidth) draw(); });
  size.observe(el);
  const unwatch = watchKernel(model, el);
  const stop = () => {
    isGone = true;
    unwatch();
    theme.disconnect();
    size.disconnect();
    scheme.removeEventListener("change", draw);
    for (const [name, action] of Object.entries(heard)) model.off(`change:${name}`, action);
    Plotly?.purge(box);
  };
  signal?.addEventListener("abort", stop);
  draw();
  return stop;
}
