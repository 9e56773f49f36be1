// Saves files that Python made, whatever bytes they hold.
function renderDownloads(context) {
  const { model, signal } = context;
  renderPart(context);
  const save = ({ saved }) => {
    if (!saved) return;
    const bytes = Uint8Array.from(atob(saved.base64), (one) => one.charCodeAt(0));
    linkTo({ name: saved.name, text: bytes, type: saved.type }).click();
  };
  model.on("msg:custom", save);
  signal.addEventListener("abort", () => model.off("msg:custom", save));
}

export default { render: renderDownloads };
