// What is chosen in a timeline: a span with its sums.
function choicesOf({ el, tools, signal, facts, view, send, seconds, redraw, show }) {
  const make = (name, facts = {}, parent = el) => parent.appendChild(Object.assign(document.createElement(name), facts));
  const act = (text, title, action, parent) => {
    const node = make("button", { type: "button", textContent: text, title, ariaLabel: title }, parent);
    node.addEventListener("click", action, { signal });
    return node;
  };
  let span = null, asked = 0;
  const select = act("Select", "Select a span: drag with this pressed, or with Shift", () => {
    select.ariaPressed = String(select.ariaPressed !== "true");
  }, tools);
  select.ariaPressed = "false";
  act("Σ", "Sum up what is in view", () => { mark(view.begin, view.end); ask(); }, tools);
  const sums = make("section", { className: "sums", hidden: true });
  sums.setAttribute("aria-live", "polite");

  function mark(from, to) {
    const ends = [from, to].map((one) => Math.min(Math.max(one, 0), facts().span)).sort((a, b) => a - b);
    span = { begin: Math.floor(ends[0]), end: Math.max(Math.ceil(ends[1]), Math.floor(ends[0]) + 1), first: view.first, count: view.count };
    redraw();
  }
  const ask = () => send("sum", { n: ++asked, ...span });
  function clear() {
    span = null;
    sums.hidden = true;
    sums.replaceChildren();
    redraw();
  }

  function list(rows) {
    const { first, count } = span, who = count === 1 ? `process ${first}` : `processes ${first} to ${first + count - 1}`;
    sums.hidden = false;
    sums.replaceChildren();
    const head = make("div", { className: "line" }, sums);
    make("b", { textContent: `${seconds(span.end - span.begin)} from ${seconds(span.begin)}, ${who}` }, head);
    act("Zoom to it", "Show the span that is selected", () => show(span.begin, span.end), head);
    act("✕", "Select nothing", clear, head);
    const table = make("table", {}, sums);
    for (const row of rows) {
      const line = make("tr", {}, table);
      row.forEach((text, k) => make(k ? "td" : "th", { textContent: text, ...(k ? {} : { scope: "row" }) }, line));
    }
    if (!rows.length) make("p", { className: "quiet", textContent: "Nothing is recorded there." }, sums);
  }

  return {
    mark, ask, clear, select: () => select.ariaPressed === "true",
    // Whether a message was about what is chosen.
    came(message) {
      const told = message.sums;
      if (!told) return false;
      if (told.n === asked && span) list(told.rows);
      return true;
    },
    draw(context, place, look) {
      if (!span) return;
      const scale = place.width / (view.end - view.begin), x = place.left + (span.begin - view.begin) * scale;
      const wide = Math.max((span.end - span.begin) * scale, 1);
      context.fillStyle = look.dark ? "#ffffff30" : "#00000024";
      context.fillRect(x, place.top, wide, place.height);
      context.fillStyle = look.ink;
      for (const edge of [x, x + wide]) context.fillRect(edge - 0.75, place.top, 1.5, place.height);
    },
  };
}
