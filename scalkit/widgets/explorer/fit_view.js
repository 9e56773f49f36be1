// Two grips over the fit: the expectation's end and the edge of the limits. One pull, one message, one step to undo.
const GRIPS = {
  expectation: { label: "Expectation, at the end of its curve", word: "expect", from: 0 },
  limit: { label: "Upper limit, at the edge of the band", word: "limit", from: 52 },
};
const STEPS = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 4, PageDown: -4, Home: -Infinity, End: Infinity };
const CLEAR = 6; // px that a hand may tremble; whoever pulls further gets another growth, however near it is
const SVG = "http://www.w3.org/2000/svg";

class FitGrips {
  constructor({ model, el }) {
    Object.assign(this, { model, el, pull: null, sent: null, nodes: {} });
    const add = (parent, tag, className) => parent.appendChild(Object.assign(document.createElement(tag), { className }));
    this.over = add(el, "div", "sk-grips");
    this.svg = this.over.appendChild(document.createElementNS(SVG, "svg"));
    this.svg.setAttribute("aria-hidden", "true");
    this.curve = this.svg.appendChild(document.createElementNS(SVG, "path"));
    this.said = add(this.over, "div", "said");
    this.problem = add(el, "p", "problem");
    this.problem.setAttribute("role", "alert");
    for (const [grip, { label }] of Object.entries(GRIPS)) {
      const node = (this.nodes[grip] = add(this.over, "div", `grip ${grip}`));
      for (const [key, value] of Object.entries({ role: "slider", tabindex: 0, "aria-label": label, "aria-orientation": "vertical", "data-lm-suppress-shortcuts": "true" })) node.setAttribute(key, value);
      node.addEventListener("pointerdown", (event) => this.press(grip, event));
      node.addEventListener("pointermove", (event) => this.move(event));
      node.addEventListener("pointerup", () => this.release());
      node.addEventListener("pointercancel", () => this.end());
      node.addEventListener("keydown", (event) => this.key(grip, event));
      for (const name of ["keyup", "blur"]) node.addEventListener(name, () => { if (this.pull?.isKey) this.release(); });
    }
    this.place = () => { if (!this.pull) { this.curve.removeAttribute("d"); this.said.textContent = ""; } this.draw(); };
    this.tell = () => {
      this.problem.textContent = model.get("problem");
      if (model.get("problem")) this.sent = null;
      this.place();
    };
    el.addEventListener("sk-drawn", this.place);
    model.on("change:grips", this.place);
    model.on("change:problem", this.tell);
    this.tell();
  }

  stop() {
    this.model.off("change:grips", this.place);
    this.model.off("change:problem", this.tell);
  }

  // ---- where things are -----------------------------------------------------------------------------

  // What plotly made of the axes; curves in px of the plot, and how high one is where a grip stands.
  frame() {
    const full = this.el.querySelector(".js-plotly-plot")?._fullLayout, grips = this.model.get("grips");
    if (!full?.xaxis?._length || !grips.ticks) return null;
    const { xaxis, yaxis } = full, across = grips.x.map((x) => xaxis.d2p(x));
    const right = Math.min(across.at(-1), xaxis._length);
    const curve = (k) => grips.ticks[k].y.map((y, i) => [across[i], yaxis.d2p(y)]).filter(([, y]) => Number.isFinite(y));
    const heightOf = (k, at) => {
      const points = curve(k), i = Math.max(1, points.findIndex(([x]) => x >= at));
      const [[x0, y0], [x1, y1]] = points.length > 1 ? [points[i - 1], points[i]] : [[0, NaN], [1, NaN]];
      return y0 + ((y1 - y0) * (at - x0)) / (x1 - x0);
    };
    return { grips, curve, heightOf, left: xaxis._offset, top: yaxis._offset, width: xaxis._length, height: yaxis._length, at: (grip) => right - GRIPS[grip].from };
  }

  // Where a grip is: where it was let go, until the answer of Python is there.
  indexOf(grip, { grips }) {
    const { sent } = this, k = sent?.grip === grip ? grips.ticks.findIndex(({ growth }) => growth === sent.growth) : -1;
    if (k === grips[grip]) this.sent = null;
    return k < 0 ? grips[grip] : k;
  }

  // A limit below the expectation would be none.
  choices(grip, { grips }) { return grips.ticks.map((_, k) => k).filter((k) => grip === "expectation" || k >= grips.expectation); }

  nearest({ grip, from, y0 }, y, frame) {
    if (Math.abs(y - y0) <= CLEAR) return from;
    const at = frame.at(grip), own = frame.heightOf(from, at), way = Math.sign(y - y0);
    let best = from, distance = Infinity;
    for (const k of this.choices(grip, frame)) {
      const there = frame.heightOf(k, at);
      if (k === from || Math.sign(there - own) !== way || Math.abs(there - y) >= distance) continue;
      [best, distance] = [k, Math.abs(there - y)];
    }
    return best;
  }

  // ---- gestures -------------------------------------------------------------------------------------

  press(grip, event) {
    const frame = this.frame();
    if (event.button !== 0 || this.pull || !frame) return;
    event.preventDefault();
    event.stopPropagation();
    this.nodes[grip].focus({ preventScroll: true });
    this.nodes[grip].setPointerCapture(event.pointerId);
    const from = this.indexOf(grip, frame);
    this.pull = { grip, from, to: from, y0: event.clientY - this.over.getBoundingClientRect().top - frame.top };
    this.draw();
  }

  move(event) {
    const frame = this.pull && !this.pull.isKey && this.frame();
    if (!frame) return;
    this.pull.y = event.clientY - this.over.getBoundingClientRect().top - frame.top;
    this.pull.to = this.nearest(this.pull, this.pull.y, frame);
    this.draw();
  }

  key(grip, event) {
    const frame = this.frame(), letter = event.key.toLowerCase();
    if (event.key === "Escape" && this.pull) this.end();
    else if ((event.ctrlKey || event.metaKey) && "zy".includes(letter)) this.send(letter === "y" || event.shiftKey ? "redo" : "undo");
    else if (event.key in STEPS && frame && !event.ctrlKey && !event.altKey && !event.metaKey) {
      if (this.pull && !this.pull.isKey) return;
      const from = this.indexOf(grip, frame);
      this.pull ??= { grip, from, to: from, isKey: true };
      const all = this.choices(grip, frame), k = all.indexOf(this.pull.to) + STEPS[event.key];
      this.pull.to = all[Math.max(0, Math.min(all.length - 1, k))];
      this.draw();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  release() {
    const { pull } = this;
    if (!pull) return;
    if (pull.to === pull.from) { this.end(); return; }
    this.pull = null; // the curve stays until the picture that follows is there
    this.send(pull.grip, this.model.get("grips").ticks[pull.to].growth);
  }

  end() {
    this.pull = null;
    this.place();
  }

  send(grip, growth = "") {
    this.sent = growth ? { grip, growth } : null;
    this.model.set("pulled", { n: (this.model.get("pulled").n ?? 0) + 1, grip, growth });
    this.model.save_changes();
  }

  // ---- drawing --------------------------------------------------------------------------------------

  draw() {
    const frame = this.frame(), { pull } = this;
    this.over.hidden = !frame;
    if (!frame) return;
    const { grips, left, top, width, height } = frame;
    Object.assign(this.over.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
    for (const [grip, node] of Object.entries(this.nodes)) {
      const isPulled = pull?.grip === grip, k = isPulled ? pull.to : this.indexOf(grip, frame), at = frame.at(grip);
      const y = isPulled && !pull.isKey && pull.y !== undefined ? pull.y : frame.heightOf(k, at);
      node.hidden = !Number.isFinite(y) || at < 0;
      Object.assign(node.style, { left: `${at}px`, top: `${Math.max(0, Math.min(height, y))}px` });
      node.classList.toggle("pulled", isPulled);
      const all = this.choices(grip, frame);
      const said = { "aria-valuemin": 0, "aria-valuemax": all.length - 1, "aria-valuenow": all.indexOf(k), "aria-valuetext": grips.ticks[k].name };
      for (const key in said) node.setAttribute(key, said[key]);
    }
    if (!pull) return;
    this.curve.setAttribute("d", frame.curve(pull.to).map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)},${Math.max(-1e4, Math.min(1e4, y)).toFixed(1)}`).join(""));
    this.said.textContent = `${GRIPS[pull.grip].word} ${grips.ticks[pull.to].name}`;
  }
}

export default {
  render(context) {
    const stop = render(context), grips = new FitGrips(context);
    context.signal?.addEventListener("abort", () => grips.stop());
    return () => { grips.stop(); stop(); };
  },
};
