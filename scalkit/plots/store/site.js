// What is chosen is drawn. Texts of the store become text, never markup.
const { suites, points, metrics } = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const COLOURS = ["model", "trouble", "expected", "cannot-tell", "warning", "slower", "", "quiet"].map((name) => SK_COLOURS[name]?.[0] ?? "#8a6d3b");
const SYMBOLS = ["circle", "square", "triangle-up", "diamond", "cross", "x", "triangle-down", "star"];
const MOST_SHOWN = 300, MOST_CURVES = 24;

const fits = (text, filter) => filter.toLowerCase().split(/\s+/).every((word) => text.toLowerCase().includes(word));
const counted = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}${n > MOST_SHOWN ? `, ${MOST_SHOWN} of them shown` : ""}`;
// What plotly shows letter by letter: no tag, entity or %{...} of a text takes effect.
const safe = (text) => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("%{", "&#37;{");
// A label in lines that a narrow page has room for.
const folded = (text) => text.replace(/(.{30,44}) /g, "$1\n");
const isOwn = (axis) => axis !== "p" && axis !== "msg_By";
const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b), half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
};

// Measurements come first, then virtual time and simulations; the newest of each first.
const rank = (row) => CLOCKS.indexOf(row.clock);
const byRank = (a, b) => rank(a) - rank(b) || (a.started < b.started ? 1 : a.started > b.started ? -1 : 0);
const ordered = [...suites].sort(byRank); // `points` refer to the order in `suites`
const runs = new Map(ordered.map((row) => [row.run_id, row]));

let drawn = [];
const chosen = { runs: new Set(), operations: new Set() };
const kindOf = (row) => [row.datatype, row.sync, row.pattern].filter(Boolean).join(", ");
const operationOf = (row) => [row.op, row.metric === "time" ? "" : row.metric, kindOf(row)].filter(Boolean).join(", ");
const runName = (run) => [run.platform, run.started.slice(0, 10), run.label, `run ${run.run_id.slice(0, 8)}`].filter(Boolean).join(", ");

// Boxes to check for things that pass a filter.
function list(box, things, text, set, changed) {
  const scrolled = box.scrollTop;
  box.replaceChildren(...things.slice(0, MOST_SHOWN).map((thing) => {
    const label = document.createElement("label"), field = document.createElement("input");
    field.type = "checkbox";
    field.checked = set.has(thing);
    field.addEventListener("change", () => {
      if (!set.delete(thing)) set.add(thing);
      changed();
    });
    label.append(field, text(thing));
    return label;
  }));
  box.scrollTop = scrolled;
}

function options(select, pairs, wanted) {
  select.replaceChildren(...pairs.map(([value, text]) => new Option(text, value)));
  select.value = pairs.some(([value]) => value === wanted) ? wanted : pairs[0]?.[0] ?? "";
}

const ofChosenRuns = () => suites.filter((row) => chosen.runs.has(row.run_id));
const ofChosen = () => ofChosenRuns().filter((row) => chosen.operations.has(operationOf(row)));

const shownRuns = () => [...runs.values()].filter((run) => fits(runName(run), at("run-filter").value.trim())).map((run) => run.run_id);

function showRuns() {
  const some = shownRuns();
  at("run-count").textContent = `${counted(some.length, "run")}, ${chosen.runs.size} chosen`;
  list(at("runs"), some, (id) => runName(runs.get(id)), chosen.runs, () => { showRuns(); showOperations(); });
}

function showOperations() {
  const there = [...new Set(ofChosenRuns().map(operationOf))].sort();
  for (const name of chosen.operations) if (!there.includes(name)) chosen.operations.delete(name);
  const some = there.filter((name) => fits(name, at("operation-filter").value.trim()));
  at("operation-count").textContent = `${counted(some.length, "operation")}, ${chosen.operations.size} chosen`;
  list(at("operations"), some, (name) => name, chosen.operations, showOperations);
  showAxes();
}

// What curves can be over: sizes and processes, where there are several of them, and parameters of one's own.
function showAxes() {
  const there = ofChosen().map((row) => row.x_name), names = new Set(there);
  if (there.some((name) => !isOwn(name))) names.add("msg_By").add("p");
  options(at("axis"), [...names].map((name) => [name, OVER[name] ?? name]), at("axis").value);
  draw();
}

// The measurements of what is chosen, with x and the value that is fixed along a curve.
function measurements(axis) {
  const wanted = new Set(ofChosen().filter((row) => (isOwn(axis) ? row.x_name === axis : !isOwn(row.x_name))));
  return points.suite.flatMap((place, k) => {
    const row = suites[place];
    if (!wanted.has(row)) return [];
    const p = points.p[k], size = points.msg_By[k];
    const fixed = axis === "p" ? `${size} B` : axis === "msg_By" ? `p = ${p}` : row.fixed;
    const x = axis === "p" ? p : axis === "msg_By" ? size : points.x[k];
    return [{ ...row, fixed, at: x, mid: points.med[k], q1: points.q1[k], q3: points.q3[k], crowded: points.crowded[k] }];
  });
}

function curvesOf(found, isTogether) {
  const groups = Map.groupBy(found, (row) => JSON.stringify([isTogether ? row.platform : row.run_id, operationOf(row), row.fixed]));
  const operations = new Set(found.map(operationOf)), values = new Set(found.map((row) => row.fixed));
  return [...groups.entries()].map(([key, own]) => {
    const first = own[0], name = [operations.size > 1 || !isTogether ? operationOf(first) : first.op, values.size > 1 ? first.fixed : ""].filter(Boolean).join(", ");
    const crowded = own.some((row) => row.crowded);
    const place = (isTogether ? first.platform : runName(first)) + (crowded ? " (more processes than cores)" : "");
    const points = [...Map.groupBy(own, (row) => row.at).entries()].sort(([a], [b]) => a - b).map(([x, there]) => {
      const mids = there.map((row) => row.mid), one = there.length === 1;
      return { x, y: median(mids), low: one ? there[0].q1 : Math.min(...mids), high: one ? there[0].q3 : Math.max(...mids) };
    });
    return { key, label: `${name} on ${place}`, points, op: first.op, platform: first.platform, run: isTogether ? "" : first.run_id, metric: first.metric, unit: first.unit, clock: first.clock, crowded, fixed: first.fixed };
  }).sort((a, b) => (a.label < b.label ? -1 : 1));
}

// One curve over another, where both have a value.
function ratios(curve, reference) {
  const below = new Map(reference.points.map((point) => [point.x, point.y]));
  const points = curve.points.filter(({ x }) => below.get(x) > 0).map(({ x, y, low, high }) => ({ x, y: y / below.get(x), low: low / below.get(x), high: high / below.get(x) }));
  return { ...curve, points, unit: "1" };
}

function draw() {
  const axis = at("axis").value, found = axis ? measurements(axis) : [];
  const values = [...new Set(found.map((row) => row.fixed))].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const every = [["", values.length > 1 ? `all ${values.length}` : values[0] || "all"]];
  options(at("fixed"), values.length > 1 ? [...every, ...values.map((value) => [value, value])] : every, at("fixed").value);
  const only = at("fixed").value;
  const all = curvesOf(found.filter((row) => !only || row.fixed === only), at("together").value === "yes");
  const same = all.filter((one) => one.metric === all[0].metric), curves = same.slice(0, MOST_CURVES);
  options(at("reference"), [["", "none"], ...curves.map((one) => [one.key, one.label])], at("reference").value);
  const reference = curves.find((one) => one.key === at("reference").value);
  drawn = reference ? curves.map((one) => ratios(one, reference)).filter((one) => one.points.length) : curves;
  const notes = [same.length > curves.length ? `${same.length - curves.length} more curves are not drawn: choose fewer.` : "",
    all.length > same.length ? `${all.length - same.length} left out: of another metric than the first.` : "",
    reference && drawn.some((one) => one.clock !== reference.clock) ? "Times of different clocks are set against each other." : ""];
  say(drawn.length ? notes.filter(Boolean).join(" ") : "Choose runs and operations.");
  plot(axis, reference);
}

function say(text) {
  at("said").textContent = text;
}

function plot(axis, reference) {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches, narrow = innerWidth < 600;
  for (const id of ["svg", "csv"]) at(id).disabled = !drawn.length;
  at("plot").setAttribute("aria-label", drawn.length ? `A line each: ${drawn.map((one) => one.label).join("; ")}` : "Nothing is chosen");
  if (!drawn.length) return void Plotly.purge(at("plot"));
  const data = drawn.map((one, n) => ({
    type: "scatter", mode: "lines+markers", name: safe(narrow ? folded(one.label) : one.label).replaceAll("\n", "<br>"), x: one.points.map(({ x }) => Math.max(x, 1)), y: one.points.map(({ y }) => y),
    line: { color: COLOURS[n % 8] }, marker: { symbol: SYMBOLS[(n + (n >> 3)) % 8] + (one.clock === "simulated" || one.crowded ? "-open" : ""), size: 7 },
    error_y: { type: "data", symmetric: false, array: one.points.map(({ y, high }) => high - y), arrayminus: one.points.map(({ y, low }) => y - low), thickness: 1, width: 3 },
  }));
  const first = drawn[0], isLog = drawn.every((one) => one.points.every(({ y }) => y > 0)), grid = SK_COLOURS.grid[+dark];
  const name = metrics[first.metric] ?? first.metric, what = reference ? "ratio" : isLog ? name : `${name} (${first.unit})`;
  const scale = isLog ? logTicks(drawn.flatMap((one) => one.points.map(({ y }) => y)), safe(first.unit)) : { type: "linear", exponentformat: "SI" };
  const x = { title: { text: safe(OVER[axis] ?? axis) }, type: "log", dtick: Math.log10(narrow ? 16 : 4), tickformat: ",d", gridcolor: grid };
  const y = { title: { text: safe(what) }, gridcolor: grid, automargin: true, ...scale };
  const layout = { xaxis: x, yaxis: y, height: 420 + (narrow ? 60 : 22) * drawn.length, showlegend: true, legend: { orientation: "h", y: -0.18, yanchor: "top", font: { size: narrow ? 10 : 12 } },
    font: { color: SK_COLOURS.ink[+dark] }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", margin: { l: 70, r: 16, t: 16, b: 50 } };
  Plotly.react(at("plot"), data, layout, { ...SK_PLOTLY, responsive: true });
}

// No cell begins as a formula of a spreadsheet does.
function cell(value) {
  const text = typeof value === "string" && /^\s*[=+@|%-]/.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvText() {
  const lines = [["op", "platform", "run", "metric", "unit", "clock", "fixed", "x_name", "x", "value", "low", "high"]];
  for (const one of drawn) {
    const facts = [one.op, one.platform, one.run, one.metric, one.unit, one.clock, one.fixed, at("axis").value];
    for (const { x, y, low, high } of one.points) lines.push([...facts, x, y, low, high]);
  }
  return lines.map((line) => line.map(cell).join(",") + "\n").join("");
}

function download(content, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

async function svg() {
  const { layout, data } = at("plot"), ink = SK_COLOURS.ink[0], grid = SK_COLOURS.grid[0];
  const paper = { ...layout, font: { color: ink }, paper_bgcolor: "white", xaxis: { ...layout.xaxis, gridcolor: grid }, yaxis: { ...layout.yaxis, gridcolor: grid } };
  const url = await Plotly.toImage({ data, layout: paper }, { format: "svg", width: 1000, height: layout.height });
  download(new Blob([decodeURIComponent(url.slice(url.indexOf(",") + 1))], { type: "image/svg+xml" }), "curves.svg");
}

// To begin with: an operation of MPI beside its substitutes, in the first run that has both; else the first suite.
function begin() {
  const substitutes = (row) => suites.filter((one) => one.run_id === row.run_id && one.metric === row.metric && one.op.startsWith(`${row.op.slice(4)}_`));
  const first = ordered.find((row) => row.op.startsWith("MPI_") && row.metric === "time" && substitutes(row).length) ?? ordered[0];
  if (!first) return;
  chosen.runs.add(first.run_id);
  for (const row of [first, ...substitutes(first)]) if (kindOf(row) === kindOf(first)) chosen.operations.add(operationOf(row));
}

for (const [id, changed] of [["run-filter", showRuns], ["operation-filter", showOperations]]) at(id).addEventListener("input", changed);
for (const id of ["axis", "fixed", "together", "reference"]) at(id).addEventListener("change", draw);
at("all-runs").addEventListener("click", () => { shownRuns().forEach((id) => chosen.runs.add(id)); showRuns(); showOperations(); });
at("no-runs").addEventListener("click", () => { chosen.runs.clear(); showRuns(); showOperations(); });
at("no-operations").addEventListener("click", () => { chosen.operations.clear(); showOperations(); });
at("csv").addEventListener("click", () => download(new Blob([csvText()], { type: "text/csv" }), "curves.csv"));
at("svg").addEventListener("click", svg);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
begin();
showRuns();
showOperations();
