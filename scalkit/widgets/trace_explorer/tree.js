// A tree, or a list, of rows that Python made: one has the focus, arrows move it, Enter chooses. What is shown stands in `rows`.
const ROWS_OF_A_PAGE = 8;

function renderTree(context) {
  const { model, el, signal } = context;
  renderPart(context);
  const isTree = model.get("kind") === "tree", box = document.createElement("div"), heads = document.createElement("div");
  box.setAttribute("role", isTree ? "tree" : "listbox");
  box.setAttribute("aria-label", model.get("label"));
  if (model.get("is_multiple")) box.setAttribute("aria-multiselectable", "true");
  box.className = "rows scroll";
  heads.className = "heads quiet";
  heads.setAttribute("aria-hidden", "true");
  // Before what the part says of errors, which comes last.
  const problem = el.querySelector(".piece.sk-problem");
  (problem ?? el.lastChild).before(heads, box);
  const known = new Map();
  let at = 0, shown = "";
  const rows = () => [...box.children];
  const ask = (name, value) => { if (isHeard(model)) model.send({ name, value }); };

  function span(kind, text, parent) {
    const one = document.createElement("span");
    one.className = kind;
    one.textContent = text;
    parent.append(one);
    return one;
  }

  function fill(line, row) {
    const text = JSON.stringify(row);
    if (line.dataset.shown === text) return;
    line.dataset.shown = text;
    line.replaceChildren();
    const { level, open, place, of, chosen, name, more, values, share, whole, quiet, said } = row;
    line.className = quiet ? "row empty" : "row";
    line.setAttribute("aria-selected", String(chosen));
    if (isTree) {
      line.setAttribute("aria-level", level);
      line.setAttribute("aria-posinset", place);
      line.setAttribute("aria-setsize", of);
      if (open === null) line.removeAttribute("aria-expanded");
      else line.setAttribute("aria-expanded", String(open));
      line.style.setProperty("--level", level - 1);
      span("twist", open === null ? "" : open ? "▾" : "▸", line).setAttribute("aria-hidden", "true");
    }
    line.title = said;
    const named = span("name", name, line);
    if (more) span("more", ` ${more}`, named);
    for (const value of values) span("value", value, line);
    for (const [kind, size] of [["share whole", whole], ["share", share]]) {
      if (!size) continue;
      const bar = span(kind, "", line);
      bar.setAttribute("aria-hidden", "true");
      bar.style.setProperty("--share", `${100 * size}%`);
    }
  }

  function lineFor(row) {
    if (!known.has(row.key)) {
      const line = document.createElement("div");
      line.setAttribute("role", isTree ? "treeitem" : "option");
      line.dataset.key = row.key;
      line.dataset.lmSuppressShortcuts = "true";
      known.set(row.key, line);
    }
    const line = known.get(row.key);
    fill(line, row);
    return line;
  }

  function draw() {
    const given = model.get("rows"), text = JSON.stringify([given, model.get("heads")]);
    if (text === shown) return;
    shown = text;
    const focused = box.contains(document.activeElement) ? document.activeElement : null;
    const key = focused?.dataset.key ?? rows()[at]?.dataset.key, top = box.scrollTop;
    const wanted = given.map(lineFor);
    if (wanted.length !== box.children.length || wanted.some((line, k) => box.children[k] !== line)) box.replaceChildren(...wanted);
    if (known.size > 4 * wanted.length + 400) {
      const kept = new Set(given.map((row) => row.key));
      for (const one of known.keys()) if (!kept.has(one)) known.delete(one);
    }
    box.scrollTop = top;
    heads.replaceChildren();
    const names = model.get("heads");
    heads.hidden = names.length < 2;
    span("name", "", heads);
    for (const name of names) span("value", name, heads);
    const again = wanted.findIndex((line) => line.dataset.key === key);
    at = again >= 0 ? again : Math.max(0, Math.min(at, wanted.length - 1));
    rove(false);
    if (focused && document.activeElement !== wanted[at]) wanted[at]?.focus({ preventScroll: true });
  }

  // One stop for the Tab key; the arrows move it.
  function rove(isMove) {
    const all = rows();
    at = Math.max(0, Math.min(all.length - 1, at));
    all.forEach((line, k) => { line.tabIndex = k === at ? 0 : -1; });
    if (!isMove || !all.length) return;
    all[at].focus({ preventScroll: true });
    all[at].scrollIntoView({ block: "nearest" });
  }

  const levelOf = (line) => Number(line?.getAttribute("aria-level") ?? 1);

  function sideways(line, isRight) {
    const open = line.getAttribute("aria-expanded");
    if (open === (isRight ? "false" : "true")) ask("fold", { key: line.dataset.key });
    else if (isRight && open === "true") at += 1;
    else if (!isRight) {
      const all = rows();
      for (let k = at - 1; k >= 0; k -= 1) if (levelOf(all[k]) < levelOf(line)) { at = k; break; }
    }
  }

  function find(letter) {
    const all = rows(), n = all.length;
    for (let k = 1; k <= n; k += 1) {
      const next = (at + k) % n;
      if (all[next].querySelector(".name").textContent.toLowerCase().startsWith(letter.toLowerCase())) { at = next; return; }
    }
  }

  box.addEventListener("keydown", (event) => {
    const { key } = event, line = event.target.closest(".row");
    if (!line || event.altKey) return;
    const adds = event.ctrlKey || event.metaKey || event.shiftKey;
    if (key === "ArrowDown") at += 1;
    else if (key === "ArrowUp") at -= 1;
    else if (key === "PageDown") at += ROWS_OF_A_PAGE;
    else if (key === "PageUp") at -= ROWS_OF_A_PAGE;
    else if (key === "Home") at = 0;
    else if (key === "End") at = rows().length - 1;
    else if (isTree && (key === "ArrowRight" || key === "ArrowLeft")) sideways(line, key === "ArrowRight");
    else if (key === "Enter" || key === " ") ask("choose", { key: line.dataset.key, how: adds || key === " " ? "add" : "alone" });
    else if (key.length === 1 && !event.ctrlKey && !event.metaKey) find(key);
    else return;
    event.preventDefault();
    event.stopPropagation();
    if (key === "Enter" || key === " ") return;
    rove(true);
    if (event.shiftKey && key.startsWith("Arrow") && (key === "ArrowDown" || key === "ArrowUp"))
      ask("choose", { key: rows()[at].dataset.key, how: "add" });
  }, { signal });
  box.addEventListener("click", (event) => {
    const line = event.target.closest(".row");
    if (!line) return;
    at = rows().indexOf(line);
    rove(true);
    const folds = event.target.closest(".twist") && line.hasAttribute("aria-expanded");
    if (folds) ask("fold", { key: line.dataset.key });
    else ask("choose", { key: line.dataset.key, how: event.ctrlKey || event.metaKey || event.shiftKey ? "add" : "alone" });
  }, { signal });
  box.addEventListener("dblclick", (event) => {
    const line = event.target.closest(".row[aria-expanded]");
    if (line && !event.target.closest(".twist")) ask("fold", { key: line.dataset.key });
  }, { signal });
  box.addEventListener("focusin", (event) => {
    const line = event.target.closest(".row");
    if (line) { at = rows().indexOf(line); rove(false); }
  }, { signal });

  let isWaiting = false;
  const later = () => {
    if (isWaiting) return;
    isWaiting = true;
    queueMicrotask(() => { isWaiting = false; if (!signal.aborted) draw(); });
  };
  for (const name of ["rows", "heads"]) model.on(`change:${name}`, later);
  signal.addEventListener("abort", () => { for (const name of ["rows", "heads"]) model.off(`change:${name}`, later); });
  draw();
}
