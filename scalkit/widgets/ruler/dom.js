// Makes nodes of the page; writes growths into them with raised exponents, never as markup.
const NS = "http://www.w3.org/2000/svg";

function svgNode(name, attributes = {}, parent = null) {
  const node = document.createElementNS(NS, name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  parent?.append(node);
  return node;
}

function htmlNode(name, attributes = {}, parent = null) {
  const node = Object.assign(document.createElement(name), attributes);
  parent?.append(node);
  return node;
}

function writeSvg(node, pieces) {
  let raised = false;
  node.replaceChildren();
  for (const [text, isRaised] of pieces) {
    const part = svgNode("tspan", { dy: isRaised === raised ? 0 : isRaised ? -4 : 4 }, node);
    if (isRaised) part.setAttribute("font-size", "85%");
    part.textContent = text;
    raised = isRaised;
  }
}

const writeHtml = (node, pieces) => node.append(...pieces.map(([text, isRaised]) => htmlNode(isRaised ? "sup" : "span", { textContent: text })));
const letters = (pieces) => pieces.reduce((n, [text, isRaised]) => n + text.length * (isRaised ? 0.85 : 1), 0);

function rowPieces(row, ruler) {
  if (row === ROW_OTHER) return [["other", false]];
  if (row === ROW_LOGGED) return [["× ", false], ...growthPieces(new Map([[ruler.small, ONE]]))];
  const kind = kindOf(ruler.base), [, base, x] = /^(.*)\((.*)\)$/.exec(ruler.base) ?? [];
  if (kind === "two") return [["2", false], [`i·${ruler.base.slice(2)}`, true]];
  return kind === "power" ? [[ruler.base, false], ["i", true]] : [[base, false], ["i", true], [` ${x}`, false]];
}
