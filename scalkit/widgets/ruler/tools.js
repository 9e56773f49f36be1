// What stands below the ruler: a button for every gesture, a field for growths of any class, the list of keys.
function buildTools(view, el) {
  const tools = htmlNode("div", { className: "tools", role: "group", ariaLabel: "Edit the ticks" }, el);
  const button = (text, title, act) => {
    const node = htmlNode("button", { type: "button", textContent: text, title }, tools);
    node.addEventListener("click", () => { act(); });
    return node;
  };
  const buttons = {
    slower: button("◀ slower", "Move the chosen tick to the next slower place (←)", () => view.moveBy(view.chosen(), -1)),
    faster: button("faster ▶", "Move the chosen tick to the next faster place (→)", () => view.moveBy(view.chosen(), 1)),
    row: button("× log", "Move the chosen tick to the other row (L)", () => view.toggleRow(view.chosen())),
    beside: button("+ beside", "Add a tick beside the chosen one (Insert)", () => view.addBeside(view.chosen())),
    remove: button("✕ delete", "Delete the chosen tick (Delete)", () => view.remove(view.chosen())),
    undo: button("↶ undo", "Take the last step back (Ctrl+Z)", () => view.ask("undo")),
    redo: button("↷ redo", "Make the last step again (Ctrl+Y)", () => view.ask("redo")),
  };
  const form = htmlNode("form", {}, tools);
  const input = htmlNode("input", { type: "text", ariaLabel: "Growth to add as a tick", maxLength: 200, spellcheck: false, autocomplete: "off" }, form);
  htmlNode("button", { type: "submit", textContent: "+ add", title: "Add the growth in the field as a tick" }, form);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (input.value.trim()) view.ask("add", input.value.trim());
    input.value = "";
  });
  form.addEventListener("keydown", (event) => event.stopPropagation());
  const keys = htmlNode("details", { className: "keys" }, el);
  htmlNode("summary", { textContent: "Mouse and keys" }, keys);
  htmlNode("span", { textContent: "Drag a tick along its row or into the other one; click on an empty place of a row to add a tick. "
    + "Tab goes to the chosen tick, ↑ ↓ to another one, ← → move it, Home and End go to the ends, L changes the row, Insert adds one beside it, Delete removes it, "
    + "Escape gives a drag up, Ctrl+Z and Ctrl+Y undo and redo." }, keys);
  return { tools, buttons, input, keys };
}
