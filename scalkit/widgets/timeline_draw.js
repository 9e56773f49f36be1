// Draws rasters, bars and axes of a timeline on a canvas; times in ns from the begin of the trace.
const LEFT = 48, TOP = 22, RIGHT = 8, SUB = 4;
const bytesOf = (view) => view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength);

const darkScheme = matchMedia("(prefers-color-scheme: dark)");
function isDarkPage() {
  const said = document.body.dataset.jpThemeLight;
  if (said) return said === "false";
  return darkScheme.matches && /dark/.test(getComputedStyle(document.documentElement).colorScheme);
}

const rgba = (hex) => (hex ? (0xff000000 | (parseInt(hex.slice(5, 7), 16) << 16) | (parseInt(hex.slice(3, 5), 16) << 8) | parseInt(hex.slice(1, 3), 16)) >>> 0 : 0);

// A raster as an image: rows of a few lines, of which waiting takes its share from below.
function imageOf(picture, colours, waiting, lineHeight) {
  const { rows, columns, kind, wait } = picture, sub = Math.max(1, Math.min(SUB, Math.floor(lineHeight)));
  const canvas = Object.assign(document.createElement("canvas"), { width: columns, height: rows * sub });
  const context = canvas.getContext("2d"), data = context.createImageData(columns, rows * sub);
  const pixels = new Uint32Array(data.data.buffer), table = colours.map(rgba), red = rgba(waiting);
  for (let row = 0; row < rows; row++) {
    for (let line = 0; line < sub; line++) {
      const to = (row * sub + line) * columns, from = row * columns, least = ((sub - line - 0.5) * 255) / sub;
      for (let k = 0; k < columns; k++) pixels[to + k] = wait[from + k] >= least ? red : table[kind[from + k]];
    }
  }
  context.putImageData(data, 0, 0);
  return canvas;
}

function readRaster(told, [kind, wait]) {
  return { ...told, kind: new Uint8Array(bytesOf(kind)), wait: new Uint8Array(bytesOf(wait)) };
}

function readBars(told, buffers) {
  const names = ["row", "waitRow", "fromRow", "toRow", "start", "stop", "waitStart", "waitStop", "fromTime", "toTime", "kind", "operation"];
  const types = [...Array(4).fill(Int32Array), ...Array(6).fill(Float64Array), Uint8Array, Uint8Array];
  const found = { ...told };
  names.forEach((name, k) => { found[name] = new types[k](bytesOf(buffers[k])); });
  return found;
}

// What times are called on the axis; where numbers would be long, the first one is whole and the others count from it.
function ticksOf(begin, end, most) {
  const raw = Math.max((end - begin) / Math.max(most, 1), 1), power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((m) => m * power >= raw) * power;
  const first = Math.ceil(begin / step) * step, isFar = first / step >= 10000, base = isFar ? first : 0, ticks = [];
  const [size, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]].find(([s]) => (isFar ? 5 * step : end) >= s) ?? [1, "ns"];
  for (let time = first; time <= end; time += step) {
    const text = Number(((time - base) / size).toPrecision(7)) || 0;
    ticks.push({ time, text: isFar ? (time === first ? `${(first * 1e-9).toFixed(9).replace(/0+$/, "")} s` : `+${text} ${unit}`) : `${text} ${unit}` });
  }
  return ticks;
}

function drawRaster(context, picture, view, area) {
  if (!picture?.image || picture.first !== view.first || picture.count !== view.count) return;
  const scale = area.width / (view.end - view.begin), { left, width, columns, rows, together, count } = picture;
  context.imageSmoothingEnabled = false;
  const x = area.left + (left - view.begin) * scale, height = (area.height * rows * together) / count;
  context.drawImage(picture.image, x, area.top, columns * width * scale, height);
}

function drawBars(context, bars, view, area, { colours, waiting, ink, names }) {
  const scale = area.width / (view.end - view.begin), line = area.height / view.count, gap = line > 6 ? 1 : 0;
  const at = (time) => area.left + (time + bars.begin - view.begin) * scale, middle = (row) => area.top + (row + 0.5) * line;
  const box = (row, start, stop, high) => {
    const x = Math.max(at(start), area.left - 2), right = Math.min(at(stop), area.left + area.width + 2);
    const tall = (line - 2 * gap) * high;
    if (right >= area.left - 2 && x <= area.left + area.width + 2) context.fillRect(x, area.top + row * line + line - gap - tall, Math.max(right - x, 0.8), tall);
    return right - x;
  };
  context.textBaseline = "middle";
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "left";
  for (let k = 0; k < bars.row.length; k++) {
    context.fillStyle = colours[bars.kind[k]] || "transparent";
    box(bars.row[k], bars.start[k], bars.stop[k], 1);
  }
  context.fillStyle = waiting;
  for (let k = 0; k < bars.waitRow.length; k++) box(bars.waitRow[k], bars.waitStart[k], bars.waitStop[k], 0.5);
  if (line >= 13) {
    for (let k = 0; k < bars.row.length; k++) {
      if (bars.kind[k] < 2) continue;
      const x = Math.max(at(bars.start[k]), area.left), right = Math.min(at(bars.stop[k]), area.left + area.width);
      const text = names[bars.kind[k]];
      if (right - x < 6.5 * text.length + 8) continue;
      const y = area.top + bars.row[k] * line + Math.min(line / 2, 9);
      context.fillStyle = "#ffffffcc";
      context.fillRect(x + 2, y - 6, context.measureText(text).width + 4, 12);
      context.fillStyle = SK_COLOURS.ink[0];
      context.fillText(text, x + 4, y);
    }
  }
  context.strokeStyle = context.fillStyle = ink;
  context.lineWidth = 1;
  for (let k = 0; k < bars.fromRow.length; k++) {
    if (bars.toRow[k] < 0 || bars.toRow[k] === bars.fromRow[k]) continue;
    const isGet = bars.operation[k] === 2, near = [at(bars.fromTime[k]), middle(bars.fromRow[k])], far = [at(bars.toTime[k]), middle(bars.toRow[k])];
    // Data of a get come from the other process; the origin has them when the transfer is completed.
    const [from, to] = isGet ? [[near[0], far[1]], [far[0], near[1]]] : [near, far];
    drawArrow(context, from, to);
  }
}

function drawArrow(context, [x0, y0], [x1, y1]) {
  const angle = Math.atan2(y1 - y0, x1 - x0);
  context.globalAlpha = 0.75;
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
  context.beginPath();
  context.moveTo(x1, y1);
  for (const side of [0.45, -0.45]) context.lineTo(x1 - 7 * Math.cos(angle + side), y1 - 7 * Math.sin(angle + side));
  context.fill();
  context.globalAlpha = 1;
}

function drawAxes(context, view, area, { ink, quiet }) {
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = ink;
  context.strokeStyle = quiet;
  context.lineWidth = 1;
  context.textBaseline = "alphabetic";
  const right = area.left + area.width;
  let free = 0;
  for (const { time, text } of ticksOf(view.begin, view.end, Math.floor(area.width / 90))) {
    const x = area.left + ((time - view.begin) * area.width) / (view.end - view.begin), wide = context.measureText(text).width;
    const from = Math.min(Math.max(x - wide / 2, area.left), right - wide);
    context.beginPath();
    context.moveTo(Math.round(x) + 0.5, area.top - 5);
    context.lineTo(Math.round(x) + 0.5, area.top);
    context.stroke();
    if (from < free) continue;
    context.textAlign = "left";
    context.fillText(text, from, area.top - 8);
    free = from + wide + 10;
  }
  context.strokeRect(area.left - 0.5, area.top - 0.5, area.width + 1, area.height + 1);
  const line = area.height / view.count, step = Math.max(1, Math.ceil(14 / line));
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (let row = 0; row < view.count; row += step) context.fillText(String(view.first + row), area.left - 6, area.top + (row + 0.5) * Math.max(line, 0));
}
