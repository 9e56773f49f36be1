// Growths as the Python side prints them, for example "p^(1/2)*log(p)" or "k^3*2^(3*k/2)/log(k)": read, compare, print.
// Exponents are exact: a fraction is [numerator, denominator].
const gcd = (a, b) => (b ? gcd(b, a % b) : Math.abs(a));
const fraction = (n, d = 1) => { const g = gcd(n, d) || 1; return [n / g, d / g]; };
const readFraction = (text) => fraction(...String(text).split("/").map(Number));
const showFraction = ([n, d]) => (d === 1 ? `${n}` : `${n}/${d}`);
const valueOf = ([n, d]) => n / d;
const minus = ([a, b], [c, d]) => fraction(a * d - c * b, b * d);
const ZERO = [0, 1], ONE = [1, 1];

// "a*b/c" -> [["a", 1], ["b", 1], ["c", -1]], parentheses respected.
function factorsOf(text) {
  const found = [];
  let depth = 0, start = 0, sign = 1;
  for (let k = 0; k <= text.length; k++) {
    const c = text[k];
    if (c === "(") depth++;
    else if (c === ")") depth--;
    else if (k === text.length || (depth === 0 && (c === "*" || c === "/"))) {
      found.push([text.slice(start, k), sign]);
      sign = c === "/" ? -1 : 1;
      start = k + 1;
    }
  }
  return found.filter(([part]) => part && part !== "1");
}

// A growth is a Map from class ("p", "log(p)", "2^p", "own(p)") to its exponent, zeros left out.
function readGrowth(text) {
  const growth = new Map();
  for (const [part, sign] of factorsOf(text)) {
    const two = /^2\^(?:([A-Za-z_]\w*)|\((?:(\d+)\*)?([A-Za-z_]\w*)(?:\/(\d+))?\))$/.exec(part);
    const other = /^(.+?)(?:\^(?:(\d+)|\((\d+)(?:\/(\d+))?\)))?$/.exec(part);
    const name = two ? `2^${two[1] ?? two[3]}` : other[1];
    const [n, d] = two ? [two[2] ?? 1, two[4] ?? 1] : [other[2] ?? other[3] ?? 1, other[4] ?? 1];
    growth.set(name, fraction(sign * Number(n), Number(d)));
  }
  return growth;
}

const kindOf = (name) => (name.startsWith("2^") ? "two" : name.startsWith("log(") ? "log" : name.endsWith(")") ? "own" : "power");
const ORDER = { power: 0, log: 1, own: 2, two: 3 };
const bare = (exponent) => exponent[0] === 1 && exponent[1] === 1;

function factorText(name, exponent) {
  const [n, d] = exponent;
  if (bare(exponent)) return name;
  if (!name.startsWith("2^")) return `${name}^${d === 1 ? n : `(${n}/${d})`}`;
  const x = name.slice(2), times = n === 1 ? x : `${n}*${x}`;
  return `2^(${d === 1 ? times : `${times}/${d}`})`;
}

// The text that Python would print, so that an edit needs no correction.
function showGrowth(growth, classes) {
  const sorted = [...growth].filter(([, e]) => e[0]).sort(([a], [b]) =>
    ORDER[kindOf(a)] - ORDER[kindOf(b)] || classes.indexOf(a) - classes.indexOf(b));
  const above = sorted.filter(([, e]) => e[0] > 0).map(([name, e]) => factorText(name, e));
  const below = sorted.filter(([, e]) => e[0] < 0).map(([name, [n, d]]) => factorText(name, [-n, d]));
  return [above.join("*") || "1", ...below].join("/");
}

const exponentOf = (growth, name) => growth.get(name) ?? ZERO;
const withExponent = (growth, name, exponent) => new Map(growth).set(name, exponent);

// Lexicographic by the exponents of the classes, the fastest first: the order for large x.
function compare(a, b, classes) {
  for (const name of classes) {
    const difference = valueOf(minus(exponentOf(a, name), exponentOf(b, name)));
    if (difference) return difference;
  }
  return 0;
}

// As a person writes it: [["p", false], ["1/2", true], [" log p", false]]; true stands for raised.
function growthPieces(growth) {
  const shown = (name, [n, d]) => {
    const e = showFraction([n, d]), raised = bare([n, d]) ? [] : [[e, true]];
    const kind = kindOf(name);
    if (kind === "two") return [["2", false], [`${d === 1 ? (n === 1 ? "" : n) : n === 1 ? "" : n}${name.slice(2)}${d === 1 ? "" : `/${d}`}`, true]];
    if (kind === "power") return [[name, false], ...raised];
    const [, base, x] = /^(.*)\((.*)\)$/.exec(name);
    return [[base, false], ...raised, [` ${x}`, false]];
  };
  const sorted = [...growth].filter(([, e]) => e[0]).sort(([a], [b]) => (kindOf(b) === "two") - (kindOf(a) === "two") || ORDER[kindOf(a)] - ORDER[kindOf(b)]);
  const join = (part) => part.flatMap(([name, [n, d]], k) => [...(k ? [[" ", false]] : []), ...shown(name, [Math.abs(n), d])]);
  const above = sorted.filter(([, e]) => e[0] > 0), below = sorted.filter(([, e]) => e[0] < 0);
  const top = above.length ? join(above) : [["1", false]];
  if (!below.length) return top;
  return [...top, [below.length > 1 ? " / (" : " / ", false], ...join(below), ...(below.length > 1 ? [[")", false]] : [])];
}

// As a screen reader should say it.
function growthWords(growth) {
  const said = ([name, [n, d]]) => {
    const e = showFraction([Math.abs(n), d]), raised = e === "1" ? "" : ` to the power ${e}`;
    const kind = kindOf(name);
    if (kind === "two") return `2 to the power ${e === "1" ? "" : `${e} times `}${name.slice(2)}`;
    return kind === "power" ? `${name}${raised}` : `${name.replace(/\(|\)/g, " ").trim()}${raised}`;
  };
  const all = [...growth].filter(([, e]) => e[0]).sort(([a], [b]) => ORDER[kindOf(a)] - ORDER[kindOf(b)]);
  const above = all.filter(([, e]) => e[0] > 0).map(said), below = all.filter(([, e]) => e[0] < 0).map(said);
  if (!all.length) return "constant";
  return (above.join(" times ") || "1") + (below.length ? ` divided by ${below.join(" and ")}` : "");
}
