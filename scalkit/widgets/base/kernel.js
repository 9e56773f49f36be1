// Marks a view whose kernel is gone, as ipywidgets does with its own boxes; the style beside says it in words.
// The layout of a widget is a model of the same kernel, and knows whether it is heard.
const isHeard = (model) => model.get("layout")?.comm_live !== false;

function watchKernel(model, el) {
  const layout = model.get("layout");
  if (typeof layout?.on !== "function") return () => {};
  const tell = () => el.classList.toggle("jupyter-widgets-disconnected", layout.comm_live === false);
  layout.on("comm_live_update", tell);
  tell();
  return () => layout.off("comm_live_update", tell);
}
