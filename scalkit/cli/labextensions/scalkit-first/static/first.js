// Runs the first notebook when `scalkit lab` opens it, once, and only as scalkit wrote it: nothing has outputs yet.
// A plugin of JupyterLab without a build: a container as webpack's module federation makes them.
const NOTEBOOK = /(^|\/)00_quickstart\.ipynb$/, PATIENCE_MS = 60_000;

async function runFirst(app) {
  await app.restored;
  const end = performance.now() + PATIENCE_MS;
  const panel = await new Promise((found) => {
    const look = () => {
      const shown = app.shell.currentWidget;
      if (NOTEBOOK.test(shown?.context?.path ?? "")) found(shown);
      else if (performance.now() < end) setTimeout(look, 100);
    };
    look();
  });
  await Promise.all([panel.context.ready, panel.context.sessionContext.ready]);
  const { cells } = panel.context.model;
  const code = Array.from({ length: cells.length }, (_, k) => cells.get(k)).filter((one) => one.type === "code");
  if (code.some((one) => one.outputs.length || one.executionCount)) return;
  app.shell.collapseLeft?.();
  await app.commands.execute("notebook:run-all-cells");
  panel.content.activeCellIndex = 0;
  panel.content.node.querySelector(".jp-WindowedPanel-outer")?.scrollTo(0, 0);
}

const plugin = { id: "scalkit-first:plugin", description: "Runs the first notebook of scalkit.", autoStart: true, activate: (app) => { runFirst(app); } };
(globalThis._JUPYTERLAB ??= {})["scalkit-first"] = {
  init: () => {},
  get: async () => () => ({ __esModule: true, default: plugin }),
};
