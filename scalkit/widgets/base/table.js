// A table, such as that of functions, as a grid: each row is a trait of its own, the order comes from Python, one cell has the focus.
const PAGE = 8;

function renderTable({ model, el, signal }) {
  renderPart({ model, el, signal });
  const scroll = document.createElement("div"), table = document.createElement("table");
  const head = table.createTHead().insertRow(), body = table.createTBody(), none = document.createElement("p");
  scroll.className = "scroll";
  table.setAttribute("role", "grid");
  table.setAttribute("aria-label", model.get("label") ?? "Functions");
  none.className = "quiet";
  none.textContent = model.get("none") ?? "No function has this verdict.";
  scroll.append(table);
  // Before what the part says of errors, which comes last.
  (el.querySelector(".piece.sk-head") ?? el).after(scroll, none);
  const rows = new Map(), shown = new Map(), columns = model.get("columns");
  const at = { row: 0, column: 0 };

  for (const name of columns) {
    const cell = document.createElement("th"), button = document.createElement("button");
    cell.scope = "col";
    Object.assign(button, { type: "button", title: `Sort by ${name.toLowerCase()}` });
    Object.assign(button.dataset, { press: "sort", value: name, lmSuppressShortcuts: "true" });
    cell.append(button);
    head.append(cell);
  }

  // Rows and cells as they are seen; row 0 is the head. A cell's button has its focus.
  const lines = () => [head, ...body.rows];
  const targetOf = (cell) => cell.querySelector("button") ?? cell;

  function rowFor(k) {
    if (!rows.has(k)) rows.set(k, document.createElement("tr"));
    const line = rows.get(k), { cells = [] } = model.get(`row${k}`) ?? {}, text = JSON.stringify(cells);
    if (shown.get(k) !== text) {
      const column = line.contains(document.activeElement) ? [...line.cells].indexOf(document.activeElement.closest("th, td")) : -1;
      shown.set(k, text);
      line.replaceChildren(...cells.map((html, n) => {
        const cell = document.createElement(n ? "td" : "th");
        if (!n) cell.scope = "row";
        cell.innerHTML = html;
        if (n === cells.length - 1 && n < columns.length - 1) cell.colSpan = columns.length - n;
        return cell;
      }));
      if (column >= 0) targetOf(line.cells[Math.min(column, line.cells.length - 1)]).focus({ preventScroll: true });
    }
    return line;
  }

  function draw() {
    const order = model.get("order"), current = model.get("current");
    const wanted = order.map(rowFor), focused = document.activeElement;
    if (wanted.length !== body.rows.length || wanted.some((line, k) => body.rows[k] !== line)) body.replaceChildren(...wanted);
    order.forEach((k, n) => wanted[n].setAttribute("aria-selected", k === current));
    table.setAttribute("aria-rowcount", order.length + 1);
    none.hidden = order.length > 0;
    const [column, way] = model.get("sort");
    [...head.cells].forEach((cell, n) => {
      const isIt = columns[n] === column && way;
      cell.setAttribute("aria-sort", isIt ? way : "none");
      cell.firstChild.textContent = `${columns[n]}${isIt ? (way === "ascending" ? " ▲" : " ▼") : ""}`;
    });
    if (focused && focused !== document.activeElement && table.contains(focused)) focused.focus({ preventScroll: true });
    rove();
  }

  // One stop for the Tab key; the arrows move it.
  function rove(isMove = false) {
    const all = lines();
    at.row = Math.max(0, Math.min(all.length - 1, at.row));
    at.column = Math.max(0, Math.min(all[at.row].cells.length - 1, at.column));
    const chosen = targetOf(all[at.row].cells[at.column]);
    for (const line of all) for (const cell of line.cells) {
      const target = targetOf(cell);
      target.tabIndex = target === chosen ? 0 : -1;
      target.dataset.lmSuppressShortcuts = "true";
    }
    if (isMove) {
      chosen.focus({ preventScroll: true });
      chosen.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
  }

  table.addEventListener("focusin", (event) => {
    const cell = event.target.closest("th, td"), line = cell?.parentElement;
    if (!line) return;
    [at.row, at.column] = [lines().indexOf(line), [...line.cells].indexOf(cell)];
    rove();
  }, { signal });
  table.addEventListener("keydown", (event) => {
    const { key } = event, far = event.ctrlKey || event.metaKey, last = lines().length - 1;
    if (key === "ArrowDown") at.row += 1;
    else if (key === "ArrowUp") at.row -= 1;
    else if (key === "ArrowRight") at.column += 1;
    else if (key === "ArrowLeft") at.column -= 1;
    else if (key === "PageDown") at.row += PAGE;
    else if (key === "PageUp") at.row -= PAGE;
    else if (key === "Home") Object.assign(at, { column: 0, ...(far ? { row: 0 } : {}) });
    else if (key === "End") Object.assign(at, { column: columns.length, ...(far ? { row: last } : {}) });
    else if ((key === "Enter" || key === " ") && event.target.matches("td")) event.target.parentElement.cells[0].querySelector("button").click();
    else return;
    event.preventDefault();
    event.stopPropagation();
    if (key !== "Enter" && key !== " ") rove(true);
  }, { signal });
  body.addEventListener("dblclick", (event) => event.target.closest("tr")?.cells[0].querySelector("button")?.click(), { signal });

  // Several rows and their order may change at once: drawn once.
  let isWaiting = false;
  const later = () => {
    if (isWaiting) return;
    isWaiting = true;
    queueMicrotask(() => { isWaiting = false; if (!signal.aborted) draw(); });
  };
  const heard = new Set();
  const listen = () => {
    for (const name of ["order", "current", "sort", "n_rows", ...Array.from({ length: model.get("n_rows") }, (_, k) => `row${k}`)]) {
      if (heard.has(name)) continue;
      heard.add(name);
      model.on(`change:${name}`, name === "n_rows" ? listen : later);
    }
    later();
  };
  signal.addEventListener("abort", () => { for (const name of heard) model.off(`change:${name}`, name === "n_rows" ? listen : later); });
  listen();
  draw();
}

export default { render: renderTable };
