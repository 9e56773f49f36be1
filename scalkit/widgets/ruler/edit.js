// What an edit makes of a tick: the exponents at which it comes to rest, the other row, the neighbours.
// A ruler is { classes, base, small, span: [low, high], denominators }, growths as in growth.js.
const ROW_PLAIN = 0, ROW_LOGGED = 1, ROW_OTHER = 2;

function rowOf(growth, ruler) {
  const rest = [...growth].filter(([name, e]) => name !== ruler.base && e[0]);
  if (!rest.length) return ROW_PLAIN;
  return ruler.small && rest.length === 1 && rest[0][0] === ruler.small && bare(rest[0][1]) ? ROW_LOGGED : ROW_OTHER;
}

// The class whose exponent moves: that of the axis; in the third row the fastest class, if the axis' is absent.
function movingClass(growth, ruler) {
  if (rowOf(growth, ruler) !== ROW_OTHER || growth.get(ruler.base)?.[0]) return ruler.base;
  return ruler.classes.find((name) => growth.get(name)?.[0]) ?? ruler.base;
}

function rests(ruler, low = ruler.span[0], high = ruler.span[1]) {
  const found = new Map();
  for (const d of ruler.denominators) for (let n = Math.ceil(low * d); n <= high * d; n++) found.set(n / d, fraction(n, d));
  return [...found].sort(([a], [b]) => a - b).map(([, e]) => e);
}

// Where a growth may go within its row, ascending, itself included; what other ticks hold is left out.
function reachable(growth, taken, ruler) {
  const name = movingClass(growth, ruler), own = exponentOf(growth, name);
  const range = name === ruler.base ? rests(ruler) : rests(ruler, Math.min(0, valueOf(own)), Math.max(2, Math.ceil(valueOf(own))));
  const all = range.some((e) => valueOf(e) === valueOf(own)) ? range : [...range, own].sort((a, b) => valueOf(a) - valueOf(b));
  const me = showGrowth(growth, ruler.classes);
  return all.map((e) => withExponent(growth, name, e))
    .filter((g) => { const text = showGrowth(g, ruler.classes); return text === me || !taken.has(text); });
}

// The same exponent in the row with the next lower class, or back; null where there is none.
function otherRow(growth, ruler) {
  const row = rowOf(growth, ruler);
  if (row === ROW_OTHER || !ruler.small) return null;
  return withExponent(growth, ruler.small, row === ROW_PLAIN ? ONE : ZERO);
}

function inRow(row, exponent, ruler) {
  const growth = new Map([[ruler.base, exponent]]);
  return row === ROW_LOGGED ? growth.set(ruler.small, ONE) : growth;
}

// The free growth of a row that lies nearest to a place on the axis; null if the row is full.
function nearestFree(row, place, taken, ruler) {
  let best = null, distance = Infinity;
  for (const e of rests(ruler)) {
    const growth = inRow(row, e, ruler);
    if (taken.has(showGrowth(growth, ruler.classes)) || Math.abs(valueOf(e) - place) >= distance) continue;
    [best, distance] = [growth, Math.abs(valueOf(e) - place)];
  }
  return best;
}

// A free growth beside a tick, on the faster side if there is one; null if there is none.
function beside(growth, taken, ruler) {
  const options = reachable(growth, taken, ruler), me = showGrowth(growth, ruler.classes);
  const k = options.findIndex((g) => showGrowth(g, ruler.classes) === me);
  return options[k + 1] ?? options[k - 1] ?? null;
}
