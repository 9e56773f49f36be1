// Shows pieces of markup that Python made, and tells Python which buttons were pressed and what was typed.
const FOCUSABLE = "button, input, select, summary, [tabindex]";
const LIVE = ["said", "problem", "progress"];
const UNFOLDED = ["view"]; // seen although its part is folded
const keyOf = (element) => element?.closest("[data-key]")?.dataset.key;
// JupyterLab looks for this on the focused element itself.
const keepShortcutsAway = (box) => { for (const one of box.querySelectorAll(FOCUSABLE)) one.dataset.lmSuppressShortcuts = "true"; };

function replace(box, html) {
  const open = [...box.querySelectorAll("details[data-key][open]")].map(keyOf);
  const top = box.querySelector(".scroll")?.scrollTop ?? 0;
  const focused = box.contains(document.activeElement) ? keyOf(document.activeElement) : undefined;
  box.innerHTML = html;
  const keyed = [...box.querySelectorAll("[data-key]")];
  for (const one of keyed) if (one.tagName === "DETAILS" && open.includes(one.dataset.key)) one.open = true;
  keepShortcutsAway(box);
  if (top) box.querySelector(".scroll")?.scrollTo(0, top);
  const again = focused && keyed.find((one) => one.dataset.key === focused);
  (again?.matches("details") ? again.querySelector("summary") : again)?.focus({ preventScroll: true });
}

// What is longer than before is added to, so that it is read out once and stays where a person scrolled to.
function linkTo({ name, text, type }) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: type ?? "application/json" }));
  link.download = name;
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return link;
}

function told(message) {
  if (message.open) {
    const link = linkTo(message.open);
    if (!window.open(link.href, "_blank")) link.click();
  }
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

// A folded part has its title in the line that opens it.
function frame(model, el) {
  el.classList.add("sk-part");
  const title = model.get("title");
  if (!title) return el;
  const fold = document.createElement("details"), line = document.createElement("summary"), head = document.createElement("h3");
  head.textContent = title;
  line.append(head);
  fold.append(line);
  fold.className = "fold";
  fold.open = model.get("is_open");
  fold.addEventListener("toggle", () => {
    if (model.get("is_open") === fold.open) return;
    model.set("is_open", fold.open);
    model.save_changes();
  });
  el.append(fold);
  keepShortcutsAway(fold);
  return fold;
}

function renderPart({ model, el, signal }) {
  const boxes = new Map(), shown = new Map(), place = frame(model, el);
  const send = (name, value = {}) => { if (isHeard(model)) model.send({ name, value }); };
  const markTerms = () => {
    for (const trait of ["hover", "term"]) {
      const text = model.get(trait);
      for (const one of el.querySelectorAll("[data-term]")) {
        const isIt = Boolean(text) && one.dataset.term === text;
        one.classList.toggle(trait, isIt);
        if (trait === "term") one.querySelector("button[data-choose]")?.setAttribute("aria-pressed", isIt);
      }
    }
  };
  const draw = () => {
    const pieces = model.get("pieces");
    for (const [key, html] of Object.entries(pieces)) {
      if (!boxes.has(key)) {
        const box = document.createElement("div");
        box.className = `piece sk-${key}`; // a name of our own: pages have styles for "progress" and the like
        if (LIVE.includes(key)) box.setAttribute("aria-live", "polite");
        boxes.set(key, box);
        (UNFOLDED.includes(key) ? el : place).append(box);
      }
      if (shown.get(key) === html) continue;
      replace(boxes.get(key), html);
      shown.set(key, html);
    }
    markTerms();
  };
  const on = (kind, action, capture = false) => el.addEventListener(kind, action, { signal, capture });
  const set = (name, value) => {
    if (model.get(name) === undefined || model.get(name) === value) return;
    model.set(name, value);
    model.save_changes();
  };
  on("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.press) send(button.dataset.press, { key: button.dataset.value ?? "" });
    else if (button && "copy" in button.dataset) copy(button);
    else if (button && "choose" in button.dataset) {
      const { term } = button.closest("[data-term]").dataset;
      set("term", model.get("term") === term ? "" : term);
    }
  });
  const termAt = (event) => event.target.closest?.("[data-term]")?.dataset.term ?? "";
  on("pointerover", (event) => set("hover", termAt(event)));
  on("pointerleave", () => set("hover", ""));
  on("focusin", (event) => set("hover", termAt(event)));
  on("focusout", () => set("hover", ""));
  let later;
  on("input", (event) => {
    const form = event.target.closest("form[data-typing]");
    clearTimeout(later);
    if (form) later = setTimeout(() => send(form.dataset.typing, Object.fromEntries(new FormData(form))), 150);
    else if (event.target.matches("input[type=range][data-press]")) {
      const { press } = event.target.dataset, { value } = event.target;
      later = setTimeout(() => send(press, { key: value }), 40);
    }
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
  on("change", (event) => {
    const field = event.target;
    if (field.matches("select[data-press]")) send(field.dataset.press, { key: field.value });
  });
  on("toggle", (event) => {
    const { press } = event.target.dataset;
    if (press) send(press, { key: event.target.open ? "open" : "shut" });
  }, true);
  const heard = { "change:pieces": draw, "change:hover": markTerms, "change:term": markTerms, "msg:custom": told };
  for (const [name, action] of Object.entries(heard)) model.on(name, action);
  const unwatch = watchKernel(model, el);
  signal.addEventListener("abort", () => {
    unwatch();
    clearTimeout(later);
    for (const [name, action] of Object.entries(heard)) model.off(name, action);
  });
  draw();
}
