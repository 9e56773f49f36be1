// Shows an exercise as markup that Python made, and sends what was typed; what is right is known in Python only.
const FOCUSABLE = "button, input";
const LIVE = ["said", "hints"];

function replace(box, html) {
  const key = box.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  box.innerHTML = html;
  // JupyterLab looks for this on the focused element itself.
  for (const one of box.querySelectorAll(FOCUSABLE)) one.dataset.lmSuppressShortcuts = "true";
  if (!key) return;
  const again = box.querySelector(`[data-key="${key}"]:not(:disabled)`);
  (again ?? box.parentElement.querySelector(FOCUSABLE))?.focus({ preventScroll: true });
}

function render({ model, el, signal }) {
  const boxes = new Map(), shown = new Map();
  el.classList.add("sk-part", "sk-exercise");
  const send = (name, value = {}) => { if (isHeard(model)) model.send({ name, value }); };
  const draw = () => {
    for (const [key, html] of Object.entries(model.get("pieces"))) {
      if (!boxes.has(key)) {
        const box = document.createElement("div");
        box.className = key;
        if (LIVE.includes(key)) box.setAttribute("aria-live", "polite");
        boxes.set(key, box);
        el.append(box);
      }
      if (shown.get(key) === html) continue;
      replace(boxes.get(key), html);
      shown.set(key, html);
    }
  };
  el.addEventListener("click", (event) => {
    if (event.target.closest("button[data-press]")) send("hint");
  }, { signal });
  el.addEventListener("keydown", (event) => {
    // A notebook around would take the default action of Enter away, which submits and presses.
    if (event.target !== el) event.stopPropagation();
  }, { signal });
  el.addEventListener("submit", (event) => {
    event.preventDefault();
    send("check", Object.fromEntries(new FormData(event.target)));
  }, { signal });
  model.on("change:pieces", draw);
  signal.addEventListener("abort", () => model.off("change:pieces", draw));
  draw();
}

export default { render };
