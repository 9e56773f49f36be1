// The axes of the page of a store: what they are called, and ticks of values.
// The clocks, in the order in which their runs are listed; times of several are never taken together.
const CLOCKS = ["real", "virtual", "simulated"];

const OVER = { p: "processes", msg_By: "message size (B)" };

// Values with a prefix, as in "200 µs".
const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];

function prefixed(value, unit) {
  const [size, prefix] = (unit && PREFIXES.find(([one]) => value >= one * 0.9999)) || [1, ""];
  return `${+(value / size).toPrecision(6)} ${prefix}${unit}`.trim();
}

// At even steps between values that are too close for 1, 2, 5.
function evenTicks(least, most) {
  const span = most - least || least, power = 10 ** Math.floor(Math.log10(span / 5));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => span / one <= 6);
  const first = Math.max(1, Math.floor(least / step) - 1), count = Math.ceil(most / step) + 1 - first;
  return Array.from({ length: count + 1 }, (_, k) => Number(((first + k) * step).toPrecision(12)));
}

// As many of 1, 2, 5 in a decade as there is room for.
function logTicks(values, measure) {
  const least = Math.min(...values), most = Math.max(...values), low = Math.log10(least), high = Math.log10(most);
  const unit = measure === "1" ? "" : measure; // of a number
  const steps = high - low < 3 ? [1, 2, 5] : [1], every = Math.max(1, Math.ceil((high - low) / 8));
  const tickvals = [];
  for (let k = Math.floor(low) - 1; k <= high + 1; k += every) tickvals.push(...steps.map((one) => Number(`${one}e${k}`)));
  const ticks = tickvals.filter((one) => one >= least && one <= most).length < 2 ? evenTicks(least, most) : tickvals;
  return { type: "log", tickmode: "array", tickvals: ticks, ticktext: ticks.map((one) => prefixed(one, unit)) };
}
