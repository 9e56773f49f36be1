// The ruler in the page: draws what the model holds, turns gestures into edits. One gesture, one message, one step to undo.
const PREVIEW_MS = 80;
const TRAITS = ["ticks", "expectation", "limits", "best", "weights", "denominators", "selected", "hover", "readonly", "axis", "span", "problem", "label", "can_undo", "can_redo", "absent"];

class Ruler {
  constructor({ model, el, signal }) {
    Object.assign(this, { model, el, nodes: new Map(), drag: null, timer: 0, shown: "" });
    el.classList.add("sk-ruler");
    this.build();
    const draw = () => { if (!this.isCommitting) this.draw(); };
    for (const name of TRAITS) model.on(`change:${name}`, draw);
    this.observer = new ResizeObserver(() => { if (this.width() !== this.drawnWidth) this.draw(); });
    this.observer.observe(this.svg);
    this.pace = PREVIEW_MS;
    const unwatch = watchKernel(model, el);
    this.stop = () => {
      unwatch();
      clearTimeout(this.timer);
      this.observer.disconnect();
      for (const name of TRAITS) model.off(`change:${name}`, draw);
    };
    signal?.addEventListener("abort", this.stop);
    this.draw();
  }

  build() {
    const { el } = this;
    this.absent = htmlNode("p", { className: "why" }, el);
    this.caption = htmlNode("p", { className: "caption" }, el);
    this.svg = svgNode("svg", { role: "group" }, el);
    this.back = svgNode("g", { "aria-hidden": "true" }, this.svg);
    this.front = svgNode("g", {}, this.svg);
    this.marks = svgNode("g", { "aria-hidden": "true", "pointer-events": "none" }, this.svg);
    this.readout = htmlNode("p", { className: "readout" }, el);
    this.problem = htmlNode("p", { className: "problem", role: "alert" }, el);
    Object.assign(this, buildTools(this, el));
    this.live = htmlNode("div", { className: "live" }, el);
    this.live.setAttribute("aria-live", "polite");
    // On the focused element itself: JupyterLab looks there, or "d d" would delete the cell.
    for (const node of this.el.querySelectorAll("button, input, summary")) node.dataset.lmSuppressShortcuts = "true";
    this.svg.addEventListener("pointerdown", (event) => this.press(event));
    this.svg.addEventListener("pointermove", (event) => (this.drag ? this.pull(event) : this.point(event)));
    this.svg.addEventListener("pointerup", (event) => this.release(event));
    this.svg.addEventListener("pointercancel", () => this.giveUp());
    this.svg.addEventListener("pointerleave", () => { if (!this.drag) this.hoverOn(""); });
    this.svg.addEventListener("keydown", (event) => this.key(event));
  }

  // ---- what the model says ------------------------------------------------------------------------

  width() { return Math.round(this.svg.clientWidth) || 640; }
  get ruler() {
    const { base, small, classes } = this.model.get("axis");
    return { base, small, classes, span: this.model.get("span"), denominators: this.model.get("denominators") };
  }
  get isReadonly() { return this.model.get("readonly"); }
  texts() { return this.model.get("ticks").map((tick) => tick.growth); }
  chosen() { const text = this.model.get("selected"); return this.texts().includes(text) ? text : null; }
  others(text) { return new Set((this.drag?.texts ?? this.texts()).filter((other) => other !== text)); }

  // ---- edits --------------------------------------------------------------------------------------

  commit(texts, selected, said) {
    const ruler = this.ruler;
    const ticks = texts.map((growth) => ({ growth, g: readGrowth(growth) })).sort((a, b) => compare(a.g, b.g, ruler.classes))
      .map(({ growth, g }) => ({ growth, row: rowOf(g, ruler), at: showFraction(exponentOf(g, movingClass(g, ruler))) }));
    const hadFocus = this.front.contains(document.activeElement);
    this.isCommitting = true;
    this.model.set("ticks", ticks);
    this.model.save_changes(); // before linked views tell Python of the choice, which can wait
    this.model.set("selected", selected);
    this.isCommitting = false;
    this.model.save_changes();
    this.draw();
    if (hadFocus) this.nodes.get(selected)?.focus({ preventScroll: true });
    this.live.textContent = said;
  }

  // As state, not as a message of its own: that could overtake an edit that waits for its turn.
  ask(type, text = "") {
    const asked = this.model.get("requests");
    this.model.set("requests", [...asked.slice(-19), { n: (asked.at(-1)?.n ?? 0) + 1, type, text }]);
    this.model.save_changes();
  }

  replace(text, growth) {
    const wanted = growth && showGrowth(growth, this.ruler.classes);
    if (!wanted || wanted === text) return;
    const others = this.others(text);
    if (others.has(wanted)) { this.live.textContent = `There is a tick ${growthWords(growth)} already.`; return; }
    this.rename(text, wanted);
    this.commit([...others, wanted], wanted, `Moved to ${growthWords(growth)}`);
  }

  rename(text, wanted) {                                  // the node stays, and with it the focus
    const node = this.nodes.get(text);
    if (node && text !== wanted) { this.nodes.delete(text); this.nodes.set(wanted, node); }
  }

  moveBy(text, steps) {
    if (!text) return;
    const options = reachable(readGrowth(text), this.others(text), this.ruler);
    const k = options.findIndex((g) => showGrowth(g, this.ruler.classes) === text);
    this.replace(text, options[Math.max(0, Math.min(options.length - 1, k + steps))]);
  }

  toggleRow(text) { if (text) this.replace(text, otherRow(readGrowth(text), this.ruler)); }

  addBeside(text) {
    const growth = text && beside(readGrowth(text), this.others(text), this.ruler);
    if (growth) this.add(growth);
  }

  add(growth) {
    const text = showGrowth(growth, this.ruler.classes);
    this.commit([...this.texts(), text], text, `Added ${growthWords(growth)}`);
  }

  remove(text) {
    const texts = this.texts();
    if (!text || texts.length < 2) { this.live.textContent = "The last tick stays."; return; }
    const row = [...this.front.querySelectorAll(`.tick[data-row="${this.nodes.get(text).dataset.row}"]`)].map((node) => node.dataset.growth);
    const k = row.indexOf(text), rest = texts.filter((other) => other !== text);
    this.commit(rest, row[k + 1] ?? row[k - 1] ?? rest[0], `Deleted ${growthWords(readGrowth(text))}`);
  }

  key(event) {
    const text = event.target.dataset?.growth;
    if (event.key === "Escape" && this.drag) { this.giveUp(); event.stopPropagation(); return; }
    const letter = event.key.toLowerCase(), isCommand = event.ctrlKey || event.metaKey;
    const way = isCommand || event.shiftKey ? null : { ArrowUp: "previousSibling", ArrowDown: "nextSibling" }[event.key];
    if (!text || event.altKey || (this.isReadonly && !way)) return;
    if (way) event.target[way]?.focus({ preventScroll: true });
    else if (isCommand) {
      if (letter !== "z" && letter !== "y") return;
      this.ask(letter === "y" || event.shiftKey ? "redo" : "undo");
    } else if (event.key === "ArrowRight") this.moveBy(text, 1);
    else if (event.key === "ArrowLeft") this.moveBy(text, -1);
    else if (event.key === "Home") this.moveBy(text, -Infinity);
    else if (event.key === "End") this.moveBy(text, Infinity);
    else if (letter === "l") this.toggleRow(text);
    else if (event.key === "Insert" || event.key === "+") this.addBeside(text);
    else if (event.key === "Delete" || event.key === "Backspace") this.remove(text);
    else return;                                          // Tab and the like stay with the page
    event.preventDefault();
    event.stopPropagation();
  }

  // ---- the pointer --------------------------------------------------------------------------------

  at(event) {
    const box = this.svg.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    let found = null, distance = 15;
    for (const row of this.plan.rows) for (const item of row.items) {
      const d = Math.hypot(item.x - x, Math.max(0, Math.abs(item.y + 3 - y) - 10));
      if (item.isTick && d < distance) [found, distance] = [item, d];
    }
    const row = this.plan.rows.find((r) => y >= r.y - HEAD && y < r.bottom);
    return { x, y, item: found, row: row?.row };
  }

  press(event) {
    if (event.button !== 0 || this.drag) return;
    const { x, y, item, row } = this.at(event);
    event.preventDefault();
    if (item) this.nodes.get(item.text)?.focus({ preventScroll: true });
    if (this.isReadonly) return;
    this.svg.setPointerCapture(event.pointerId);
    this.drag = { from: item?.text ?? null, to: item?.text ?? null, x, y, row, hasMoved: false, texts: this.texts(), sent: item?.text ?? null };
    if (item) this.drag.options = reachable(item.growth, this.others(item.text), this.ruler);
    this.draw();
  }

  pull(event) {
    const { drag } = this, { x, y } = this.at(event), ruler = this.ruler;
    if (!drag.hasMoved && Math.hypot(x - drag.x, y - drag.y) < 4) return;
    drag.hasMoved = true;
    if (!drag.from) return;
    const growth = readGrowth(drag.from), row = rowOf(growth, ruler);
    let next;
    if (row === ROW_OTHER) {
      const k = drag.options.findIndex((g) => showGrowth(g, ruler.classes) === drag.from) + Math.round((x - drag.x) / 20);
      next = drag.options[Math.max(0, Math.min(drag.options.length - 1, k))];
    } else {
      const below = this.plan.rows.find((r) => r.row === ROW_LOGGED);
      const target = below && y >= below.y - HEAD / 2 ? ROW_LOGGED : ROW_PLAIN;
      next = nearestFree(target, this.plan.toPlace(x), this.others(drag.from), ruler) ?? growth;
    }
    const text = showGrowth(next, ruler.classes);
    if (text === drag.to) return;
    this.rename(drag.to, text);
    drag.to = text;
    this.draw();
    this.timer ||= setTimeout(() => this.sendPreview(), this.pace);
  }

  sendPreview() {
    this.timer = 0;
    const { drag } = this;
    if (!drag?.from || drag.sent === drag.to) return;
    drag.sent = drag.to;
    this.model.set("preview", { from: drag.from, to: drag.to });
    // With many functions Python takes longer; it shall have time to spare when the tick is let go.
    const asked = performance.now();
    const status = ({ content }) => {
      if (content.execution_state === "idle") this.pace = Math.max(PREVIEW_MS, 2 * (performance.now() - asked));
    };
    this.model.save_changes({ iopub: { status } });
  }

  release(event) {
    const { drag } = this;
    if (!drag) return;
    clearTimeout(this.timer);
    this.timer = 0;
    this.drag = null;
    if (!drag.from) {
      const { row } = this.at(event);
      const growth = !drag.hasMoved && row === drag.row && row !== undefined && row !== ROW_OTHER
        && nearestFree(row, this.plan.toPlace(drag.x), new Set(this.texts()), this.ruler);
      if (growth) { this.add(growth); this.nodes.get(this.model.get("selected"))?.focus({ preventScroll: true }); }
      return;
    }
    if (drag.sent !== drag.from || drag.to !== drag.from) {
      this.model.set("preview", { from: drag.from, to: drag.to, final: true });
      this.commit([...drag.texts.filter((text) => text !== drag.from), drag.to], drag.to, `Moved to ${growthWords(readGrowth(drag.to))}`);
    }
    this.draw();
  }

  giveUp() {
    const { drag } = this;
    if (!drag) return;
    clearTimeout(this.timer);
    this.timer = 0;
    if (drag.from) this.rename(drag.to, drag.from);
    this.drag = null;
    if (drag.from && drag.sent !== drag.from) { this.model.set("preview", {}); this.model.save_changes(); }
    this.draw();
  }

  point(event) { this.hoverOn(this.at(event).item?.text ?? ""); }

  hoverOn(text) {
    if (text === this.model.get("hover")) return;
    this.model.set("hover", text);
    this.hoverTimer ||= setTimeout(() => { this.hoverTimer = 0; this.model.save_changes(); }, PREVIEW_MS);
  }

  // ---- drawing ------------------------------------------------------------------------------------

  draw() {
    const ruler = this.ruler, { drag } = this, absent = this.model.get("absent");
    this.absent.textContent = absent;
    this.el.classList.toggle("absent", Boolean(absent));
    if (!ruler.base || absent) return;
    const read = (text) => ({ text, growth: readGrowth(text), wide: letters(growthPieces(readGrowth(text))) * 6.4 + 8 });
    const texts = drag?.from ? drag.texts.map((text) => (text === drag.from ? drag.to : text)) : this.texts();
    const expected = this.model.get("expectation"), best = this.model.get("best");
    const labels = Math.max(...[ROW_PLAIN, ...(ruler.small ? [ROW_LOGGED] : [])].map((row) => letters(rowPieces(row, ruler))));
    this.drawnWidth = this.width();
    this.plan = layout({
      ticks: texts.map(read), marked: [...new Set([expected, best].filter(Boolean))].map(read),
      limits: this.model.get("limits").map(readGrowth), ruler, width: this.drawnWidth, left: Math.max(48, Math.min(120, labels * 6.6 + 22)),
    });
    this.svg.setAttribute("aria-label", this.model.get("label"));
    this.svg.setAttribute("class", [this.isReadonly ? "" : "edits", this.drawnWidth < 480 ? "narrow" : ""].join(" ").trim());
    this.svg.setAttribute("height", this.plan.height);
    this.drawRows(ruler);
    this.drawTicks(expected, best);
    this.drawWords(expected, best);
    this.drawTexts(ruler, expected, best);
  }

  drawRows(ruler) {
    this.back.replaceChildren();
    const { left, length } = this.plan;
    for (const row of this.plan.rows) {
      svgNode("rect", { class: row.row === ROW_OTHER ? "row-area" : "row-area takes", x: left - 14, y: row.y - HEAD / 2, width: length + 28, height: row.bottom - row.y + HEAD / 2 }, this.back);
      if (row.band) svgNode("rect", { class: "band", x: row.band[0], y: row.y - 6, width: row.band[1] - row.band[0], height: row.bottom - row.y + 4, rx: 4 }, this.back);
      svgNode("line", { class: "row-line", x1: left - 12, x2: left + length + 12, y1: row.y, y2: row.y }, this.back);
      writeSvg(svgNode("text", { x: 2, y: row.y + 4 }, this.back), rowPieces(row.row, ruler));
    }
  }

  drawTicks(expected, best) {
    const weights = this.model.get("weights"), selected = this.drag?.to ?? this.model.get("selected"), hover = this.model.get("hover");
    const focused = document.activeElement, wasInside = this.front.contains(focused), keep = new Set();
    let previous = null;
    for (const row of this.plan.rows) row.items.forEach((item, k) => {
      const { text, x } = item, y = (item.y = row.y + 14 + item.lane * LANE), weight = weights[text] ?? 0;
      const isBest = text === best, isExpected = text === expected;
      if (weight > 0.01) svgNode("rect", { class: "weight", x: x - 3, y: row.y - 1 - 19 * weight, width: 6, height: 19 * weight }, this.back);
      if (!item.isTick) { svgNode("line", { class: "ghost", x1: x, x2: x, y1: row.y, y2: y + 8 }, this.back); return; }
      let node = this.nodes.get(text);
      if (!node) this.nodes.set(text, (node = this.newTick()));
      keep.add(text);
      const states = { best: isBest, expected: isExpected, selected: text === selected, hover: text === hover, dragged: Boolean(this.drag?.from) && text === this.drag.to };
      const said = [growthWords(item.growth), isBest && "best fit", isExpected && "expected", weight >= 0.005 && `${Math.round(weight * 100)} percent probable`,
        this.plan.hasLimits && (item.isInside ? "inside the limits" : "outside the limits")].filter(Boolean).join(", ");
      const attributes = {
        class: ["tick", ...Object.keys(states).filter((s) => states[s])].join(" "), transform: `translate(${x},${y})`, "data-growth": text, "data-row": row.row,
        "aria-label": `Tick ${k + 1} of ${row.items.length}`, "aria-valuemin": row.row === ROW_OTHER ? 1 : this.model.get("span")[0],
        "aria-valuemax": row.row === ROW_OTHER ? row.items.length : this.model.get("span")[1], "aria-valuenow": row.row === ROW_OTHER ? k + 1 : +item.place.toFixed(4),
        "aria-valuetext": said, "aria-readonly": this.isReadonly,
      };
      for (const key in attributes) if (node.getAttribute(key) !== String(attributes[key])) node.setAttribute(key, attributes[key]);
      this.shapeTick(node, row, item, y);
      if (previous ? previous.nextSibling !== node : this.front.firstChild !== node) previous ? previous.after(node) : this.front.prepend(node);
      previous = node;
    });
    for (const [text, node] of this.nodes) if (!keep.has(text)) { node.remove(); this.nodes.delete(text); }
    const stop = this.nodes.get(selected) ?? this.nodes.get(best) ?? this.front.firstChild;
    this.stopAt(stop);
    if (wasInside && document.activeElement !== focused) (focused.isConnected ? focused : stop)?.focus({ preventScroll: true });
  }

  stopAt(node) { for (const one of this.front.children) one.setAttribute("tabindex", one === node ? 0 : -1); }  // of the Tab key

  newTick() {
    const node = svgNode("g", { tabindex: -1, role: "slider", "aria-orientation": "horizontal", "data-lm-suppress-shortcuts": "true" });
    node.parts = { stem: svgNode("line", { class: "stem", x1: 0, x2: 0 }, node), hit: svgNode("rect", { class: "hit", x: -12, y: -12, width: 24, height: 32 }, node),
      ring: svgNode("circle", { class: "ring", r: 11 }, node), knob: null, label: svgNode("text", { y: 20, "text-anchor": "middle" }, node) };
    node.addEventListener("focus", () => {
      this.stopAt(node);
      if (this.model.get("selected") === node.dataset.growth || this.drag) return;
      this.model.set("selected", node.dataset.growth);
      this.model.save_changes();
    });
    return node;
  }

  shapeTick(node, row, item, y) {
    const { parts } = node, look = `${row.row} ${item.text}`;
    parts.stem.setAttribute("y1", row.y - y);
    parts.stem.setAttribute("y2", 0);
    if (node.look === look) return;
    node.look = look;
    parts.knob?.remove();
    parts.knob = row.row === ROW_PLAIN ? svgNode("circle", { class: "knob", r: 6 }) : svgNode("rect", { class: "knob", x: -5.5, y: -5.5, width: 11, height: 11, ...(row.row === ROW_OTHER ? { transform: "rotate(45) scale(.9)" } : { rx: 1 }) });
    parts.label.before(parts.knob);
    writeSvg(parts.label, row.row === ROW_OTHER ? growthPieces(item.growth) : [[showFraction(exponentOf(item.growth, this.ruler.base)), false]]);
  }

  drawWords(expected, best) {
    this.marks.replaceChildren();
    const place = (text, word, name, lift) => {
      for (const row of this.plan.rows) for (const item of row.items) if (item.text === text) {
        const half = word.length * 3.4, x = Math.max(half + 2, Math.min(this.drawnWidth - half - 2, item.x));
        svgNode("text", { class: `mark ${name}`, x, y: row.y - lift, "text-anchor": "middle" }, this.marks).textContent = word;
        return { x, y: row.y };
      }
      return null;
    };
    if (best && best === expected) { place(best, "best, as expected", "best", 22); return; }
    const one = best && place(best, "best", "best", 22), far = expected && place(expected, "expected", "expected", 22);
    if (one && far && one.y === far.y && Math.abs(one.x - far.x) < 48) this.marks.lastChild.setAttribute("y", far.y - 9);
  }

  drawTexts(ruler, expected, best) {
    const weight = this.model.get("weights")[best], limits = this.model.get("limits");
    this.caption.replaceChildren();
    const entry = (name, word, texts, extra = "") => {
      const node = htmlNode("span", { className: name }, this.caption);
      node.append(`${word} `);
      texts.forEach((text, k) => { if (k) node.append(" to "); writeHtml(htmlNode("b", {}, node), growthPieces(readGrowth(text))); });
      node.append(extra);
    };
    if (best) entry("best", "best", [best], weight === undefined ? "" : ` (${Math.round(weight * 100)} %)`);
    if (expected) entry("expected", "expected", [expected]);
    if (limits.length) entry("limits", "within the limits", limits);
    const selected = this.chosen(), about = this.drag?.to ?? (this.model.get("hover") || selected);
    this.readout.replaceChildren();
    const node = about && this.nodes.get(about);
    if (node) {
      writeHtml(htmlNode("b", {}, this.readout), growthPieces(readGrowth(about)));
      const rest = node.getAttribute("aria-valuetext").split(", ").slice(1).join(", ").replace(" percent", " %");
      this.readout.append(rest ? `: ${rest}` : "");
    } else this.readout.append(`${this.texts().length} ticks`, this.isReadonly ? "; ↑ and ↓ go from one to the next" : "; drag one, or click on an empty place of a row to add one");
    const problem = this.model.get("problem");
    if (this.problem.textContent !== problem) this.problem.textContent = problem;
    this.tools.hidden = this.keys.hidden = this.isReadonly;
    for (const name of ["slower", "faster", "row", "beside", "remove"]) this.buttons[name].disabled = !selected;
    this.buttons.undo.disabled = !this.model.get("can_undo");
    this.buttons.redo.disabled = !this.model.get("can_redo");
    const growth = selected && readGrowth(selected), row = growth && rowOf(growth, ruler);
    if (growth && (row === ROW_OTHER || !ruler.small)) this.buttons.row.disabled = true;
    const small = ruler.small ? growthPieces(new Map([[ruler.small, ONE]])).map(([text]) => text).join("") : "log";
    this.buttons.row.textContent = `${row === ROW_LOGGED ? "÷" : "×"} ${small}`;
    this.input.placeholder = ruler.small ? `${ruler.base}*${ruler.small}^2` : `${ruler.base}^2`;
  }
}

export default { render(context) { const view = new Ruler(context); return view.stop; } };
