// Where everything lies, in px: pure geometry, so that a ruler is as readable at 360 px as at 1200.
const RIGHT = 22, LANE = 38, TARGET = 25, HEAD = 34, ROW_GAP = 8;

// The handles of a row hang below its line in as many lanes as are needed to keep them apart.
function lanesOf(items) {
  const lanes = [];
  const byFineness = [...items].sort((a, b) => a.fine - b.fine || a.x - b.x);
  for (const item of byFineness) {
    let lane = lanes.findIndex((held) => held.every((x) => Math.abs(x - item.x) >= item.room));
    if (lane < 0) lane = lanes.length < 4 ? lanes.push([]) - 1 : 3;
    lanes[lane].push(item.x);
    item.lane = lane;
  }
  return Math.max(1, lanes.length);
}

// Two growths per row bound what is inside the limits: [from, to] on the axis, or null.
function bandOf(row, limits, ruler) {
  if (limits.length !== 2) return null;
  const [low, high] = limits, [a, b] = [exponentOf(low, ruler.base), exponentOf(high, ruler.base)];
  const closedLow = compare(inRow(row, a, ruler), low, ruler.classes) >= 0;
  const closedHigh = compare(inRow(row, b, ruler), high, ruler.classes) <= 0;
  if (valueOf(a) > valueOf(b) || (valueOf(a) === valueOf(b) && !(closedLow && closedHigh))) return null;
  return { from: valueOf(a), to: valueOf(b), closedLow, closedHigh };
}

// ticks, expected, best: { text, growth }; returns rows with their items and bands, and the height.
function layout({ ticks, marked, limits, ruler, width, left }) {
  const [low, high] = ruler.span, length = Math.max(120, width - left - RIGHT);
  const toX = (place) => left + ((place - low) / (high - low)) * length;
  const toPlace = (x) => low + ((x - left) / length) * (high - low);
  const isInside = (growth) => limits.length === 2 && compare(growth, limits[0], ruler.classes) >= 0 && compare(growth, limits[1], ruler.classes) <= 0;
  const rows = [ROW_PLAIN, ...(ruler.small ? [ROW_LOGGED] : []), ROW_OTHER].map((row) => ({ row, items: [] }));
  for (const one of [...ticks, ...marked.filter((m) => !ticks.some((t) => t.text === m.text))]) {
    const row = rows.find((r) => r.row === rowOf(one.growth, ruler));
    row.items.push({ ...one, isTick: ticks.includes(one), isInside: isInside(one.growth), place: valueOf(exponentOf(one.growth, ruler.base)), fine: exponentOf(one.growth, ruler.base)[1] });
  }
  let y = 4;
  const shown = rows.filter((r) => r.row !== ROW_OTHER || r.items.length);
  for (const r of shown) {
    r.items.sort((a, b) => compare(a.growth, b.growth, ruler.classes));
    const gap = length / Math.max(1, r.items.length);
    r.items.forEach((item, k) => {
      item.x = r.row === ROW_OTHER ? left + (k + 0.5) * gap : toX(item.place);
      item.fine = r.row === ROW_OTHER ? 1 : item.fine;
      item.room = r.row === ROW_OTHER ? Math.max(TARGET, item.wide ?? 0) : TARGET;
    });
    const lanes = lanesOf(r.items);
    r.y = y + HEAD;
    r.bottom = r.y + 12 + lanes * LANE;
    const band = r.row === ROW_OTHER ? null : bandOf(r.row, limits, ruler);
    const inside = r.items.filter((item) => item.isInside);
    if (band) {
      const pad = 11;
      r.band = [Math.max(left - pad, toX(band.from) - (band.closedLow ? pad : -pad)), Math.min(width - 2, toX(band.to) + (band.closedHigh ? pad : -pad))];
    } else if (r.row === ROW_OTHER && inside.length) r.band = [inside[0].x - Math.min(gap / 2, 56), inside.at(-1).x + Math.min(gap / 2, 56)];
    if (r.band && r.band[1] <= r.band[0]) r.band = null;
    y = r.bottom + ROW_GAP;
  }
  return { rows: shown, height: y, toX, toPlace, length, left, hasLimits: limits.length === 2 };
}
