"""What stands in for the notebook: a bare page around a script, and the messages that a page sends."""

from __future__ import annotations

from typing import Any

HARNESS = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>widget</title><style>%(page)s</style>
<style>%(css)s</style></head><body %(body)s><main><h1>Widget</h1><div id="el"></div></main>
<script>
// Timers and frames that are still to come. While timers are held, none comes: a gesture then has
// no pauses.
const setOwn = setTimeout, clearOwn = clearTimeout;
const frameOwn = requestAnimationFrame, cancelOwn = cancelAnimationFrame;
const toCome = new Set(), held = new Map(), LONG_MS = 5000;
let isHeld = false, nHeld = 0;
window.setTimeout = (act, ms = 0, ...more) => {
  const id = isHeld ? `held ${++nHeld}` : setOwn(() => { toCome.delete(id); act(...more); }, ms);
  if (isHeld) held.set(id, [act, ms, ...more]);
  else if (ms < LONG_MS) toCome.add(id);
  return id;
};
window.clearTimeout = (id) => { held.delete(id); toCome.delete(id); clearOwn(id); };
window.requestAnimationFrame = (act) => {
  const id = frameOwn((now) => { toCome.delete(`frame ${id}`); act(now); });
  toCome.add(`frame ${id}`);
  return id;
};
window.cancelAnimationFrame = (id) => { toCome.delete(`frame ${id}`); cancelOwn(id); };
window.holdTimers = () => { isHeld = true; };
window.letTimersGo = () => {
  isHeld = false;
  for (const one of held.values()) setTimeout(...one);
  held.clear();
};
// In the first of two frames what was seen to change size is laid out anew.
const twoFrames = () => new Promise((done) => frameOwn(() => frameOwn(done)));
window.atRest = async () => { do await twoFrames(); while (toCome.size); };
</script>
<script type="module">
const handlers = {}, state = %(state)s;
window.sent = []; window.saved = 0; window.state = state; window.log = [];
const model = {
  get: (name) => state[name] instanceof Uint8Array ? new DataView(state[name].buffer) : structuredClone(state[name]),
  set(name, value) {
    const before = JSON.stringify(state[name]);
    state[name] = value;
    if (before === JSON.stringify(value)) return;
    log.push([name, structuredClone(value)]);
    (handlers["change:" + name] ?? []).forEach((f) => f());
  },
  on: (event, f) => (handlers[event] ??= []).push(f),
  off: (event, f) => { handlers[event] = (handlers[event] ?? []).filter((g) => g !== f); },
  save_changes: () => { window.saved++; },
  send: (message) => window.sent.push(message),
};
window.model = model;
window.deliver = (message, buffers) => (handlers["msg:custom"] ?? []).forEach((f) => f(message, buffers));
window.listeners = () => Object.values(handlers).flat().length;
const load = (code) => import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
window.load = load;
const end = new AbortController();
window.stop = () => end.abort();
(await load(%(esm)s)).default.render({ model, el: document.getElementById("el"), signal: end.signal });
window.isReady = true;
</script></body></html>"""

LIGHT = "body { margin: 16px; background: #fff; color: #1b1f24; font: 14px system-ui, sans-serif; }"
DARK = (
    ":root { --jp-ui-font-color1: #e0e0e0; --jp-layout-color0: #111; --jp-layout-color2: #333; }"
    "body { margin: 16px; background: #111; color: #e0e0e0; font: 14px system-ui, sans-serif; }"
)


def at_rest(page: Any) -> None:
    """Wait until no timer and no frame is to come: the page does nothing more by itself."""
    page.evaluate("() => atRest()")


def from_page(widget: Any, **state: Any) -> None:
    """Do what arrives when the page changes traits: an update message."""
    widget._handle_msg({"content": {"data": {"method": "update", "state": state}}, "buffers": []})


def ask(ruler: Any, kind: str, text: str = "") -> None:
    """Do what arrives when a button of the ruler is pressed, or a key."""
    asked = list(ruler.requests)
    n = asked[-1]["n"] if asked else 0
    from_page(ruler, requests=[*asked, {"n": n + 1, "type": kind, "text": text}])


def state_of(widget: Any) -> dict[str, Any]:
    """Return the synced traits of a widget without what anywidget and the layout add."""
    left_out = {"layout", "tabbable", "tooltip", "runtime"}
    return {k: v for k, v in widget.get_state().items() if not k.startswith("_") and k not in left_out}
