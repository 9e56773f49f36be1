// The page of a store: what is checked is drawn. Texts of the store become text, never markup.
"use strict";
const { curves, metrics, begin } = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const COLOURS = ["model", "trouble", "expected", "undecided", "approximate", "slower", "", "quiet"].map((name) => SK_COLOURS[name]?.[0] ?? "#8a6d3b");
const SYMBOLS = ["circle", "square", "triangle-up", "diamond", "cross", "x", "triangle-down", "star"];
const MOST = 300;
const platforms = [...new Set([...curves].sort((a, b) => CLOCKS.indexOf(a.clock) - CLOCKS.indexOf(b.clock)).map((one) => one.platform))];
const chosen = { platforms: new Set(begin.map((k) => curves[k].platform)), suites: new Set(begin) };

// Boxes to check for the things that pass a filter; `text` says what stands beside each.
function list(box, things, text, isChosen, toggle) {
  const scrolled = box.scrollTop;
  box.replaceChildren(...things.slice(0, MOST).map((thing) => {
    const label = document.createElement("label"), field = document.createElement("input");
    field.type = "checkbox";
    field.checked = isChosen(thing);
    field.addEventListener("change", () => toggle(thing));
    label.append(field, text(thing));
    return label;
  }));
  box.scrollTop = scrolled;
}

const fits = (text, filter) => filter.toLowerCase().split(/\s+/).every((word) => text.toLowerCase().includes(word));
const counted = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}${n > MOST ? `, ${MOST} of them shown` : ""}`;
const marks = (one) => clockMark(one) + (one.crowded ? " (more processes than cores)" : "");
const where = (one) => (chosen.platforms.size > 1 ? ` on ${one.platform}` : "");
const plain = (text) => text.replace(/[<>&]/g, "");
const nameOf = (one) => `${one.op}${one.metric === "time" ? "" : `, ${one.metric}`}${one.words ? `, ${one.words}` : ""} over ${OVER[one.x_name] ?? one.x_name}${where(one)}${marks(one)}`;

function shown() {
  return curves.map((one, k) => ({ one, k })).filter(({ one }) => chosen.platforms.has(one.platform) && fits(nameOf(one), at("suite-filter").value.trim()));
}

function flip(set, value) {
  if (!set.delete(value)) set.add(value);
}

function drawPlatforms() {
  const some = platforms.filter((name) => fits(name, at("platform-filter").value.trim()));
  at("platform-count").textContent = counted(some.length, "platform");
  list(at("platforms"), some, (name) => name, (name) => chosen.platforms.has(name), (name) => {
    flip(chosen.platforms, name);
    for (const k of chosen.suites) if (!chosen.platforms.has(curves[k].platform)) chosen.suites.delete(k);
    drawSuites();
    drawPlot();
  });
}

function drawSuites() {
  const some = shown();
  at("suite-count").textContent = `${counted(some.length, "suite")}, ${chosen.suites.size} chosen`;
  list(at("suites"), some, ({ one }) => nameOf(one), ({ k }) => chosen.suites.has(k), ({ k }) => {
    flip(chosen.suites, k);
    at("suite-count").textContent = `${counted(some.length, "suite")}, ${chosen.suites.size} chosen`;
    drawPlot();
  });
}

// The first curve says what is drawn; others of another metric or over something else are named and left out.
function fitting() {
  const all = [...chosen.suites].map((k) => curves[k]);
  const same = all.filter((one) => one.metric === all[0].metric && one.x_name === all[0].x_name);
  return { same, others: all.length - same.length };
}

function drawPlot() {
  const { same, others } = fitting(), dark = matchMedia("(prefers-color-scheme: dark)").matches, ink = SK_COLOURS.ink[+dark];
  at("said").textContent = !same.length ? "Choose a suite." : others ? `${others} left out: of another metric, or over another parameter than the first.` : "";
  for (const id of ["svg", "csv"]) at(id).disabled = !same.length;
  at("plot").setAttribute("aria-label", same.length ? `A line each: ${same.map(nameOf).join("; ")}` : "Nothing is chosen");
  if (!same.length) return void Plotly.purge(at("plot"));
  const data = same.map((one, n) => ({
    type: "scatter", mode: "lines+markers", name: one.label + marks(one), x: one.x.map((x) => Math.max(x, 1)), y: one.y,
    line: { color: COLOURS[n % 8] }, marker: { symbol: SYMBOLS[n % 8] + (one.clock === "simulated" || one.crowded ? "-open" : ""), size: 7 },
    error_y: { type: "data", symmetric: false, array: one.high.map((v, k) => v - one.y[k]), arrayminus: one.low.map((v, k) => one.y[k] - v), thickness: 1, width: 3 },
  }));
  const first = same[0], isLog = same.every((one) => one.y.every((y) => y > 0)), grid = SK_COLOURS.grid[+dark];
  const x = { title: { text: plain(OVER[first.x_name] ?? first.x_name) }, type: "log", dtick: Math.log10(4), tickformat: ",d", gridcolor: grid };
  const name = metrics[first.metric] ?? plain(first.metric);
  const scale = isLog ? logTicks(same.flatMap((one) => one.y), plain(first.unit)) : { type: "linear", exponentformat: "SI" };
  const y = { title: { text: isLog ? name : `${name} (${plain(first.unit)})` }, gridcolor: grid, automargin: true, ...scale };
  const layout = { xaxis: x, yaxis: y, height: 420 + 22 * same.length, showlegend: true, legend: { orientation: "h", y: -0.18, yanchor: "top" },
    font: { color: ink }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", margin: { l: 70, r: 16, t: 16, b: 50 } };
  Plotly.react(at("plot"), data, layout, { ...SK_PLOTLY, responsive: true });
}

// No cell begins as a formula of a spreadsheet does.
function cell(value) {
  const text = typeof value === "string" && /^\s*[=+@|%-]/.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csv() {
  const rows = [["op", "platform", "metric", "unit", "clock", "x_name", "x", "median", "min", "max"]];
  for (const one of fitting().same) one.x.forEach((x, k) => rows.push([one.op, one.platform, one.metric, one.unit, one.clock, one.x_name, x, one.y[k], one.low[k], one.high[k]]));
  download(new Blob([rows.map((row) => row.map(cell).join(",") + "\n").join("")], { type: "text/csv" }), "comparison.csv");
}

// The plot as a drawing on white paper, whatever the page is shown on.
async function svg() {
  const { layout, data } = at("plot"), gridcolor = SK_COLOURS.grid[0];
  const paper = { ...layout, font: { color: SK_COLOURS.ink[0] }, paper_bgcolor: "white", xaxis: { ...layout.xaxis, gridcolor }, yaxis: { ...layout.yaxis, gridcolor } };
  const url = await Plotly.toImage({ data, layout: paper }, { format: "svg", width: 1000, height: layout.height });
  download(new Blob([decodeURIComponent(url.slice(url.indexOf(",") + 1))], { type: "image/svg+xml" }), "comparison.svg");
}

function download(content, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

at("platform-filter").addEventListener("input", drawPlatforms);
at("suite-filter").addEventListener("input", drawSuites);
at("clear").addEventListener("click", () => { chosen.suites.clear(); drawSuites(); drawPlot(); });
at("csv").addEventListener("click", csv);
at("svg").addEventListener("click", svg);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawPlot);
drawPlatforms();
drawSuites();
drawPlot();
