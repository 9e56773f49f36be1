// A timeline: gestures change the window at once, with what is there stretched; Python sends what is in it as bytes.
const HELP = "Drag to move, with Shift to select a span; click to keep what is said of a call; Ctrl and wheel, or W and S, to zoom; A and D to move; arrows to choose a process; Home for all.";
const GROUPS = [8, 16, 32, 64, 128, 256], PATIENCE = 10_000;

function render({ model, el, signal }) {
  const facts = () => model.get("facts");
  el.classList.add("sk-part", "sk-timeline");
  const make = (name, className, parent = el) => {
    const node = document.createElement(name);
    if (className) node.className = className;
    parent.append(node);
    return node;
  };
  if (facts().simulated) make("p", "note").textContent = "Simulated, not measured.";
  const tools = make("div", "tools");
  const button = (text, label, act) => {
    const node = Object.assign(make("button", "", tools), { type: "button", textContent: text, title: label, ariaLabel: label });
    node.addEventListener("click", act, { signal });
  };
  const main = make("canvas", "main"), strip = make("canvas", "strip");
  const said = make("p", "said quiet"), legend = make("ul", "legend");
  said.setAttribute("aria-live", "polite");
  said.textContent = HELP;
  Object.assign(main, { tabIndex: 0 });
  main.setAttribute("role", "application");
  main.setAttribute("aria-roledescription", "timeline");
  strip.setAttribute("role", "img");
  strip.setAttribute("aria-label", "The whole time, with the window that is in view");

  const view = { begin: 0, end: 1, first: 0, count: 1 };
  let picture = null, whole = null, bars = null, pending = null, isDirty = false, isAsking = false, asked = 0, askedAt = 0, shown = "";
  let isPinned = false; // what is said of a call stays
  let cursor = null, pointed = 0, isBusy = false, frame = 0, later = 0, drawn = 0, marked = null;

  const area = () => ({ left: LEFT, top: TOP, width: Math.max(el.clientWidth - LEFT - RIGHT, 40), height: heightOf(view.count) });
  const heightOf = (count) => Math.round(Math.min(Math.max(count * 18, 54), count > 256 ? 512 : 384));
  const style = () => {
    const dark = isDarkPage(), css = getComputedStyle(el);
    return { colours: dark ? facts().dark : facts().light, waiting: facts().waiting.colour ?? SK_COLOURS.trouble[0], names: facts().names,
      ink: css.color, quiet: SK_COLOURS.quiet[0], dark };
  };

  function contextOf(canvas, width, height) {
    const ratio = devicePixelRatio || 1, [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return context;
  }

  const painted = (one, look) => {
    const line = area().height / (one.rows || 1);
    if (one.image && one.dark === look.dark && one.line === line) return one;
    return Object.assign(one, { image: imageOf(one, look.colours, look.waiting, line), dark: look.dark, line });
  };

  function draw() {
    frame = 0;
    const place = area(), look = style(), context = contextOf(main, el.clientWidth, place.height + TOP + 2);
    context.save();
    context.beginPath();
    context.rect(place.left, place.top, place.width, place.height);
    context.clip();
    const isWhole = bars && bars.first === view.first && bars.count === view.count && bars.begin <= view.begin && view.end <= bars.end;
    if (isWhole) drawBars(context, bars, view, place, look);
    else {
      if (whole) drawRaster(context, painted(whole, look), view, place);
      if (picture) {
        const scale = place.width / (view.end - view.begin);
        if (picture.first === view.first && picture.count === view.count)
          context.clearRect(place.left + (picture.begin - view.begin) * scale, place.top, (picture.end - picture.begin) * scale, place.height);
        drawRaster(context, painted(picture, look), view, place);
      }
      if (bars && bars.first === view.first && bars.count === view.count) drawBars(context, bars, view, place, look);
    }
    chosenHere.draw(context, place, look);
    drawMarked(context, place, look);
    context.restore();
    drawAxes(context, view, place, look);
    drawStrip(place, look);
    tell();
    el.dataset.drawn = String(++drawn);
    el.dataset.seen = String(isAsking || isDirty ? "" : asked); // the number of the answer that is on the screen
  }
  const redraw = () => { if (!frame) frame = requestAnimationFrame(draw); };

  function drawMarked(context, place, look) {
    if (!cursor) return;
    const scale = place.width / (view.end - view.begin), line = place.height / view.count;
    const y = place.top + (cursor.location - view.first) * line;
    context.strokeStyle = look.ink;
    context.lineWidth = 1.5;
    if (marked && marked.location === cursor.location)
      context.strokeRect(place.left + (marked.begin - view.begin) * scale, y + 0.5, Math.max(marked.length * scale, 2), Math.max(line - 1, 2));
    context.fillStyle = look.ink;
    context.fillRect(place.left + (cursor.time - view.begin) * scale - 0.5, place.top, 1, place.height);
  }

  function drawStrip(place, look) {
    const context = contextOf(strip, el.clientWidth, 26), small = { left: LEFT, top: 3, width: place.width, height: 20 };
    if (whole) drawRaster(context, painted(whole, look), { ...view, begin: 0, end: facts().span }, small);
    const scale = place.width / facts().span, x = LEFT + view.begin * scale, wide = Math.max((view.end - view.begin) * scale, 3);
    context.fillStyle = look.dark ? "#111c" : "#fffc";
    context.fillRect(LEFT, 3, Math.max(x - LEFT, 0), 20);
    context.fillRect(x + wide, 3, Math.max(LEFT + place.width - x - wide, 0), 20);
    context.strokeStyle = look.ink;
    context.lineWidth = 2;
    context.strokeRect(x, 2, wide, 22);
  }

  const seconds = (ns) => {
    if (Math.abs(ns) < 1) return "0 s";
    const [size, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]].find(([s]) => Math.abs(ns) >= s) ?? [1, "ns"];
    return `${Number((ns / size).toPrecision(4))} ${unit}`;
  };

  function tell() {
    const text = `${seconds(view.end - view.begin)} from ${seconds(view.begin)}`;
    if (text === shown) return;
    shown = text;
    label.textContent = text;
    main.setAttribute("aria-label", `${facts().alt} In view: ${text}. ${HELP}`);
  }

  // One question at a time, about the window as it is then.
  function ask() {
    if (!isHeard(model)) return;
    isDirty = true;
    if (isAsking && performance.now() - askedAt < PATIENCE) return;
    isAsking = true;
    askedAt = performance.now();
    isDirty = false;
    const place = area(), n = ++asked;
    model.send({ name: "look", value: { n, begin: Math.floor(view.begin), end: Math.ceil(view.end), first: view.first, count: view.count,
      columns: Math.round(place.width * Math.min(devicePixelRatio || 1, 2)), rows: place.height } });
  }
  function askWhole() {
    pending = { first: view.first, count: view.count };
    model.send({ name: "look", value: { n: 0, begin: 0, end: facts().span, first: view.first, count: view.count, columns: 1024, rows: area().height, bars: 0 } });
  }

  function came(message, buffers) {
    if (message.said) return hear(message.said);
    if (chosenHere.came(message)) return;
    const told = message.raster ?? message.bars;
    if (!told) return;
    const found = message.raster ? readRaster(told, buffers) : readBars(told, buffers);
    if (told.n === 0) {
      if (pending?.first === told.first && pending?.count === told.count) whole = found;
    } else {
      isAsking = false;
      if (message.raster) { picture = found; bars = null; } else bars = found;
      if (isDirty) ask();
    }
    redraw();
  }

  function hear(told) {
    if (told.n !== pointed) return;
    marked = told.text ? told : null;
    say(told.text || `Process ${told.location}: nothing is recorded there.`);
    redraw();
  }
  const say = (text) => { said.textContent = text; said.classList.remove("quiet"); };
  function pin(keeps) {
    isPinned = keeps;
    said.classList.toggle("pinned", keeps);
    redraw();
  }

  function point(location, time) {
    cursor = { location, time };
    pointed += 1;
    clearTimeout(later);
    later = setTimeout(() => { if (isHeard(model)) model.send({ name: "point", value: { n: pointed, location, time: Math.floor(time) } }); }, 25);
    redraw();
  }

  function look(begin, end, isFinal = true) {
    const span = facts().span, least = 20;
    let length = Math.min(Math.max(end - begin, least), span), from = begin + (end - begin - length) / 2;
    from = Math.min(Math.max(from, 0), Math.max(span - length, 0));
    Object.assign(view, { begin: from, end: from + length });
    redraw();
    ask();
    clearTimeout(look.timer);
    look.timer = setTimeout(() => save("window", [view.begin, view.end]), isFinal ? 60 : 250);
  }
  const zoom = (factor, at = (view.begin + view.end) / 2) => look(at - (at - view.begin) * factor, at + (view.end - at) * factor);
  const pan = (part) => look(view.begin + part * (view.end - view.begin), view.end + part * (view.end - view.begin));
  const all = () => look(0, facts().span);

  function save(name, value) {
    if (JSON.stringify(model.get(name)) === JSON.stringify(value)) return;
    isBusy = true;
    model.set(name, value);
    model.save_changes();
    isBusy = false;
  }

  function regroup(first, count) {
    const n = facts().locations;
    Object.assign(view, { first: Math.min(Math.max(first, 0), n - 1) });
    view.count = Math.min(Math.max(count, 1), n - view.first);
    picture = bars = whole = cursor = marked = null;
    redraw();
    askWhole();
    ask();
  }

  button("All", "Show the whole time", all);
  button("−", "Zoom out", () => zoom(2));
  button("+", "Zoom in", () => zoom(0.5));
  button("◀", "Earlier", () => pan(-0.4));
  button("▶", "Later", () => pan(0.4));
  const choice = facts().locations > GROUPS[0] ? make("select", "", tools) : null;
  if (choice) {
    choice.setAttribute("aria-label", "Processes in view");
    const n = facts().locations, add = (text, first, count) => Object.assign(make("option", "", choice), { textContent: text, value: `${first},${count}` });
    add(`all ${n} processes`, 0, n);
    const size = GROUPS.find((one) => n / one <= 64) ?? 256;
    for (let k = 0; k < n; k += size) add(`${k} to ${Math.min(k + size, n) - 1}`, k, Math.min(size, n - k));
    choice.addEventListener("change", () => {
      const [first, count] = choice.value.split(",").map(Number);
      regroup(first, count);
      save("group", [view.first, view.count]);
    }, { signal });
  }
  const chosenHere = choicesOf({ el, tools, signal, facts, view, seconds, redraw, show: (begin, end) => look(begin, end),
    send: (name, value) => { if (isHeard(model)) model.send({ name, value }); } });
  const label = make("span", "window", tools);
  for (const node of tools.querySelectorAll("button, select, input")) node.dataset.lmSuppressShortcuts = "true";
  main.dataset.lmSuppressShortcuts = "true";

  function drawLegend() {
    const look = style(), { names, shares, waiting } = facts();
    const entries = names.map((name, k) => [name, look.colours[k], shares[k]]).slice(1).filter((one) => one[2] !== "0 %");
    if (waiting.colour) entries.push(["waiting", waiting.colour, waiting.share]);
    legend.replaceChildren(...entries.map(([name, colour, share]) => {
      const item = document.createElement("li");
      make("i", "", item).style.background = colour;
      item.append(name, " ");
      make("span", "", item).textContent = share;
      return item;
    }));
  }

  const timeAt = (event) => {
    const place = area(), x = event.clientX - main.getBoundingClientRect().left;
    return view.begin + ((x - place.left) / place.width) * (view.end - view.begin);
  };
  const rowAt = (event) => {
    const place = area(), y = event.clientY - main.getBoundingClientRect().top - place.top;
    return view.first + Math.min(Math.max(Math.floor((y / place.height) * view.count), 0), view.count - 1);
  };
  const on = (node, kind, act, options = {}) => node.addEventListener(kind, act, { signal, ...options });
  on(main, "wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== main) return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) return pan(event.deltaX / area().width);
    zoom(1.2 ** Math.sign(event.deltaY) * 1.001 ** event.deltaY, timeAt(event));
  }, { passive: false });
  const isInside = (event) => event.offsetX >= LEFT && event.offsetY >= TOP; // not on the axes
  let held = null;
  on(main, "pointerdown", (event) => {
    if (event.button) return;
    held = { x: event.clientX, begin: view.begin, end: view.end, from: event.shiftKey || chosenHere.select() ? timeAt(event) : null };
    main.setPointerCapture(event.pointerId);
  });
  on(main, "pointermove", (event) => {
    if (held) held.hasMoved ||= Math.abs(event.clientX - held.x) > 3;
    if (held && held.from !== null) chosenHere.mark(held.from, timeAt(event));
    else if (held) {
      if (!held.hasMoved) return;
      const moved = ((event.clientX - held.x) / area().width) * (held.end - held.begin);
      look(held.begin - moved, held.end - moved, false);
    } else if (!isPinned && isInside(event)) point(rowAt(event), Math.min(timeAt(event), facts().span - 1));
  });
  on(main, "pointerup", (event) => {
    if (held?.hasMoved && held.from !== null) chosenHere.ask();
    else if (held && !held.hasMoved && isInside(event)) {
      pin(!isPinned);
      point(rowAt(event), Math.min(timeAt(event), facts().span - 1));
    }
    held = null;
  });
  on(main, "pointercancel", () => { held = null; });
  on(main, "pointerleave", () => { if (!held && !isPinned && document.activeElement !== main) { cursor = marked = null; redraw(); } });
  on(main, "dblclick", (event) => zoom(0.25, timeAt(event)));
  on(main, "keydown", (event) => {
    const acts = {
      ArrowLeft: () => pan(-0.25), ArrowRight: () => pan(0.25), Home: all, "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2),
      PageUp: () => pan(-1), PageDown: () => pan(1), ArrowUp: () => step(-1), ArrowDown: () => step(1),
      w: () => zoom(0.5), s: () => zoom(2), a: () => pan(-0.25), d: () => pan(0.25),
      Enter: () => pin(!isPinned), Escape: () => { pin(false); chosenHere.clear(); },
    };
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (!acts[key] || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    acts[key]();
  });
  const step = (by) => {
    const now = cursor ? cursor.location + by : view.first;
    point(Math.min(Math.max(now, view.first), view.first + view.count - 1), (view.begin + view.end) / 2);
  };
  const centre = (event) => {
    const place = area(), x = event.clientX - strip.getBoundingClientRect().left, half = (view.end - view.begin) / 2;
    const at = ((x - LEFT) / place.width) * facts().span;
    look(at - half, at + half, false);
  };
  on(strip, "pointerdown", (event) => { strip.setPointerCapture(event.pointerId); centre(event); });
  on(strip, "pointermove", (event) => { if (event.buttons & 1) centre(event); });

  const taken = () => {
    if (isBusy) return;
    const [begin, end] = model.get("window");
    look(begin, end);
  };
  const chosen = () => {
    if (isBusy) return;
    const [first, count] = model.get("group");
    if (choice) choice.value = `${first},${count}`;
    if (first !== view.first || count !== view.count) regroup(first, count);
  };
  const heard = { "change:window": taken, "change:group": chosen, "msg:custom": came };
  for (const [name, action] of Object.entries(heard)) model.on(name, action);
  const restyle = () => { drawLegend(); redraw(); };
  const theme = new MutationObserver(restyle);
  theme.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
  darkScheme.addEventListener("change", restyle, { signal });
  let width = 0;
  const size = new ResizeObserver(() => { if (el.clientWidth && el.clientWidth !== width) { width = el.clientWidth; redraw(); ask(); } });
  size.observe(el);
  const unwatch = watchKernel(model, el);
  signal.addEventListener("abort", () => {
    unwatch();
    theme.disconnect();
    size.disconnect();
    clearTimeout(later);
    clearTimeout(look.timer);
    cancelAnimationFrame(frame);
    for (const [name, action] of Object.entries(heard)) model.off(name, action);
  });
  [view.first, view.count] = model.get("group");
  [view.begin, view.end] = model.get("window");
  drawLegend();
  askWhole();
  width = el.clientWidth;
  ask();
  redraw();
}

export default { render };
