// Shows pieces of markup that Python made, and tells Python which buttons were pressed and what was typed.
const FOCUSABLE = "button, input, select, summary, [tabindex]";
const keyOf = (element) => element?.closest("[data-key]")?.dataset.key;

function replace(box, html) {
  const open = [...box.querySelectorAll("details[data-key][open]")].map(keyOf);
  const top = box.querySelector(".scroll")?.scrollTop ?? 0;
  const focused = box.contains(document.activeElement) ? keyOf(document.activeElement) : undefined;
  box.innerHTML = html;
  const keyed = [...box.querySelectorAll("[data-key]")];
  for (const one of keyed) if (one.tagName === "DETAILS" && open.includes(one.dataset.key)) one.open = true;
  // JupyterLab looks for this on the focused element itself.
  for (const one of box.querySelectorAll(FOCUSABLE)) one.dataset.lmSuppressShortcuts = "true";
  if (top) box.querySelector(".scroll")?.scrollTo(0, top);
  const again = focused && keyed.find((one) => one.dataset.key === focused);
  (again?.matches("details") ? again.querySelector("summary") : again)?.focus({ preventScroll: true });
}

function download({ name, text }) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

async function copy(button) {
  const code = button.closest("[data-source]").querySelector("pre");
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(code);
    button.textContent = "Selected: press Ctrl+C";
  }
}

function render({ model, el, signal }) {
  const boxes = new Map(), shown = new Map();
  el.classList.add("sk-part");
  const send = (name, value = {}) => model.send({ name, value });
  const draw = () => {
    const pieces = model.get("pieces");
    for (const [key, html] of Object.entries(pieces)) {
      if (!boxes.has(key)) {
        const box = document.createElement("div");
        box.className = `piece ${key}`;
        if (key === "said" || key === "problem") box.setAttribute("aria-live", "polite");
        boxes.set(key, box);
        el.append(box);
      }
      if (shown.get(key) === html) continue;
      replace(boxes.get(key), html);
      shown.set(key, html);
    }
  };
  const on = (kind, action, capture = false) => el.addEventListener(kind, action, { signal, capture });
  on("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.press) send(button.dataset.press, { key: button.dataset.value ?? "" });
    else if (button && "copy" in button.dataset) copy(button);
  });
  let later;
  on("input", (event) => {
    const form = event.target.closest("form[data-typing]");
    clearTimeout(later);
    if (form) later = setTimeout(() => send(form.dataset.typing, Object.fromEntries(new FormData(form))), 150);
  });
  on("keydown", (event) => {
    // A notebook around would take the default action of Enter away, which submits and presses.
    if (event.target !== el) event.stopPropagation();
  });
  on("submit", (event) => {
    event.preventDefault();
    clearTimeout(later);
    const name = event.submitter?.dataset.submit ?? event.target.dataset.submit;
    send(name, Object.fromEntries(new FormData(event.target)));
  });
  on("change", async (event) => {
    const field = event.target;
    if (field.matches("select[data-press]")) send(field.dataset.press, { key: field.value });
    if (field.type === "file" && field.files.length) {
      send(field.dataset.press, { file: field.files[0].name, text: await field.files[0].text() });
      field.value = "";
    }
  });
  on("toggle", (event) => {
    const { press } = event.target.dataset;
    if (press) send(press, { key: event.target.open ? "open" : "shut" });
  }, true);
  const told = (message) => { if (message.download) download(message.download); };
  model.on("change:pieces", draw);
  model.on("msg:custom", told);
  signal.addEventListener("abort", () => {
    clearTimeout(later);
    model.off("change:pieces", draw);
    model.off("msg:custom", told);
  });
  draw();
}

export default { render };
