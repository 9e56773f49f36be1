// Many processes as a field of cells, one stop for the Tab key: arrows go from cell to cell, Enter chooses, Space adds.
function renderHeat(context) {
  const { model, el, signal } = context;
  renderTree(context);
  const field = document.createElement("div"), line = document.createElement("p");
  field.className = "heat";
  Object.assign(field, { tabIndex: 0 }).dataset.lmSuppressShortcuts = "true";
  field.setAttribute("role", "slider");
  field.setAttribute("aria-label", "Process");
  line.className = "quiet readout";
  el.querySelector(".heads").before(field, line);
  let at = 0, heat = {};
  const cells = () => field.children;

  function say(k) {
    if (heat.texts?.[k] === undefined) return;
    const text = `process ${k}: ${heat.texts[k]}${heat.chosen.includes(k) ? ", chosen" : ""}`;
    line.textContent = text;
    return text;
  }

  function point(k) {
    cells()[at]?.classList.remove("at");
    at = Math.max(0, Math.min(cells().length - 1, k));
    cells()[at]?.classList.add("at");
    field.setAttribute("aria-valuenow", at);
    field.setAttribute("aria-valuetext", say(at));
  }

  function draw() {
    heat = model.get("heat");
    const shares = heat.shares ?? [];
    field.hidden = line.hidden = shares.length === 0;
    while (cells().length > shares.length) field.lastChild.remove();
    if (shares.length === 0) return;
    while (cells().length < shares.length) field.append(document.createElement("span"));
    const chosen = new Set(heat.chosen);
    field.style.setProperty("--cell", shares.length > 400 ? "8px" : "12px");
    shares.forEach((share, k) => {
      cells()[k].style.setProperty("--v", `${share}%`);
      cells()[k].className = chosen.has(k) ? "chosen" : "";
    });
    field.setAttribute("aria-valuemin", 0);
    field.setAttribute("aria-valuemax", shares.length - 1);
    point(at);
  }

  const ask = (how) => { if (isHeard(model)) model.send({ name: "choose", value: { key: String(at), how } }); };
  const perLine = () => {
    const [first] = cells(), top = first?.offsetTop;
    let k = 1;
    while (k < cells().length && cells()[k].offsetTop === top) k += 1;
    return k;
  };
  field.addEventListener("keydown", (event) => {
    const { key } = event, moves = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: perLine(), ArrowUp: -perLine() };
    if (key in moves) point(at + moves[key]);
    else if (key === "Home") point(0);
    else if (key === "End") point(cells().length - 1);
    else if (key === "Enter") ask(event.ctrlKey || event.metaKey || event.shiftKey ? "add" : "alone");
    else if (key === " ") ask("add");
    else return;
    event.preventDefault();
    event.stopPropagation();
  }, { signal });
  const cellAt = (event) => (event.target.parentElement === field ? [...cells()].indexOf(event.target) : -1);
  field.addEventListener("click", (event) => {
    const k = cellAt(event);
    if (k < 0) return;
    point(k);
    ask(event.ctrlKey || event.metaKey || event.shiftKey ? "add" : "alone");
  }, { signal });
  field.addEventListener("pointerover", (event) => { const k = cellAt(event); if (k >= 0) say(k); }, { signal });
  field.addEventListener("pointerleave", () => say(at), { signal });
  model.on("change:heat", draw);
  signal.addEventListener("abort", () => model.off("change:heat", draw));
  draw();
}

export default { render: renderHeat };
