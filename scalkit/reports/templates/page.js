// Draws the figures of the report: unpacks the plotting library once, draws what is near the window first, follows the
// colour scheme of the system, and redraws in light colours and the width of paper before printing.
(() => {
  "use strict";
  const pattern = new RegExp(Object.keys(SK_DARK).map((s) => s.replace(/[()]/g, "\\$&")).join("|"), "g");
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const plots = [...document.querySelectorAll(".plot")];
  const sources = new Map(plots.map((el) => [el, el.querySelector("script").textContent]));
  const drawn = new Set();
  let paper = false;

  async function library() {
    const text = document.getElementById("plotting").textContent.trim();
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
    return globalThis.Plotly;
  }

  // On paper: A4 with the margins of the style sheet, and two figures of a pair beside each other.
  const PAIR = { width: 330, height: 250 };
  const width = (el) => (!paper ? el.clientWidth : el.closest(".pair") ? PAIR.width : 680);

  function figure(el) {
    const dark = scheme.matches && !paper;
    const text = sources.get(el);
    const { data, layout } = JSON.parse(dark ? text.replace(pattern, (s) => SK_DARK[s]) : text);
    layout.paper_bgcolor = "rgba(0,0,0,0)";
    layout.hoverlabel = { ...layout.hoverlabel, bgcolor: SK_COLOURS.paper[+dark], bordercolor: SK_COLOURS.quiet[0] };
    layout.hoverlabel.font = { ...layout.hoverlabel.font, color: SK_COLOURS.ink[+dark] };
    if (width(el) < 420) {
      layout.font = { ...layout.font, size: 11 };
      layout.margin = { ...layout.margin, l: Math.min(layout.margin.l, 54), r: 8 };
    }
    layout.width = width(el);
    const isWide = !paper && layout.width < (layout.meta?.wide ?? 0); // what cannot be read on a phone is scrolled
    if (isWide) layout.width = layout.meta.wide;
    el.style.overflowX = isWide ? "auto" : "";
    if (isWide) el.tabIndex = 0;
    if (paper && el.closest(".card .pair")) layout.height = Math.min(layout.height, PAIR.height);
    el.style.height = `${layout.height + (isWide ? 16 : 0)}px`;
    const config = { ...SK_PLOTLY, displayModeBar: "hover" };
    return { data, layout, config };
  }

  function draw(Plotly, el) {
    if (!el.clientWidth) return;
    const { data, layout, config } = figure(el);
    Plotly.react(el, data, layout, config);
    // The picture itself is the image; its tool bar stays a set of buttons beside it.
    el.setAttribute("role", "figure");
    el.querySelectorAll(".main-svg").forEach((svg, k) => {
      if (k) svg.setAttribute("aria-hidden", "true");
      else { svg.setAttribute("role", "img"); svg.setAttribute("aria-label", el.getAttribute("aria-label")); }
    });
    el.dataset.drawn = String(width(el));
    drawn.add(el);
  }

  function redraw(Plotly) {
    for (const el of drawn) draw(Plotly, el);
  }

  // On paper the runners-up are open; other folded parts stay away.
  const unfolded = new Set();
  function unfold() {
    for (const el of document.querySelectorAll("details.print:not([open])")) { el.open = true; unfolded.add(el); }
  }
  function fold() {
    for (const el of unfolded) el.open = false;
    unfolded.clear();
  }

  function watch(Plotly) {
    const near = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) {
        if (isIntersecting && !drawn.has(target)) draw(Plotly, target);
      }
    }, { rootMargin: "600px" });
    const sized = new ResizeObserver((entries) => {
      for (const { target } of entries) {
        const width = String(target.clientWidth);
        if (drawn.has(target) && width !== "0" && width !== target.dataset.drawn) draw(Plotly, target);
      }
    });
    for (const el of plots) { near.observe(el); sized.observe(el); }
    scheme.addEventListener("change", () => redraw(Plotly));
    addEventListener("beforeprint", () => { paper = true; unfold(); for (const el of plots) draw(Plotly, el); });
    addEventListener("afterprint", () => { paper = false; fold(); redraw(Plotly); });
  }

  async function all(Plotly) {
    for (const el of plots) {
      if (!drawn.has(el)) draw(Plotly, el);
      await new Promise((resume) => setTimeout(resume, 0));
    }
    document.documentElement.dataset.figures = "drawn";
  }

  function failed(error) {
    document.documentElement.dataset.figures = "failed";
    for (const el of plots) {
      const note = document.createElement("p");
      note.className = "note";
      note.textContent = `This browser cannot draw the figure (${error.message}); its numbers are in the tables.`;
      el.append(note);
    }
  }

  // Where the address points to; nowhere if its escapes are broken, as in "#%".
  function target() {
    try {
      return document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch {
      return null;
    }
  }

  // A link to a folded part, or into one, opens it.
  function reveal() {
    const el = target();
    let isFolded = false;
    for (let fold = el?.closest("details"); fold; fold = fold.parentElement.closest("details")) isFolded = fold.open = true;
    if (isFolded) el.scrollIntoView();
  }

  addEventListener("hashchange", reveal);
  reveal();
  for (const el of plots) el.replaceChildren();
  library().then((Plotly) => { watch(Plotly); return all(Plotly); }).catch(failed);
})();
