// Unpacks the plotting library in the page and hands it to every view, in whatever order they start.
const waiting = (globalThis.__scalkitPlotly ??= Promise.withResolvers());

async function unpack(packed) {
  const text = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  // As a module, with names of its own: neither an AMD loader nor another plotly in the page is touched.
  const before = globalThis.Plotly;
  const code = `const module = { exports: {} }, exports = module.exports, define = undefined;\n${text}\nexport default module.exports;`;
  const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  try {
    return (await import(url)).default;
  } finally {
    URL.revokeObjectURL(url);
    if (before) globalThis.Plotly = before;
    else delete globalThis.Plotly;
  }
}

export default {
  async initialize({ model }) {
    if (waiting.started) return;
    waiting.started = true;
    unpack(model.get("bundle")).then(waiting.resolve, (error) => { waiting.started = false; console.error("scalkit: the plotting library did not start", error); });
  },
};
