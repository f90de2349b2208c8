// Line charts. Lines differ in dash as well as in colour.

const SVG = "http://www.w3.org/2000/svg";
const CHART = { width: 420, left: 44, right: 14, top: 10, bottom: 38 };

const drawn = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

function path(points) {
  let pen = "M";
  return points.reduce((made, point) => {
    if (!point) {
      pen = "M";
      return made;
    }
    const next = `${made}${pen}${point[0].toFixed(1)} ${point[1].toFixed(1)}`;
    pen = "L";
    return next;
  }, "");
}

// The range of values that a chart shows: whole twentieths around them, so that a small change can be seen.
function valueRange(lines) {
  const values = lines.flatMap((line) => line.values).filter((value) => value !== null);
  if (!values.length) return [0, 1];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return [Math.max(0, Math.floor(low * 20 - 0.2) / 20), Math.min(1, Math.ceil(high * 20 + 0.2) / 20)];
}

// lines: [{name, values}], values one for each of `xs`, within 0 and 1 or null. marks: [{at, dash}].
function chart(holder, { xs, lines, marks, label, height, summary }) {
  const { width, left, right, top, bottom } = CHART;
  const [low, high] = [xs[0], xs.at(-1)];
  const [least, most] = valueRange(lines);
  const x = (value) => left + ((value - low) / (high - low || 1)) * (width - left - right);
  const y = (value) => height - bottom - ((value - least) / (most - least || 1)) * (height - top - bottom);
  const parts = [];
  for (const value of ticks(least, most, 5)) {
    parts.push(drawn("line", { x1: left, x2: width - right, y1: y(value), y2: y(value), class: "grid" }));
    parts.push(drawn("text", { x: left - 6, y: y(value) + 4, class: "tick", "text-anchor": "end" }, String(value)));
  }
  for (const value of ticks(low, high, 7)) {
    parts.push(drawn("text", { x: x(value), y: height - bottom + 15, class: "tick", "text-anchor": "middle" }, String(value)));
  }
  parts.push(drawn("text", { x: (left + width - right) / 2, y: height - 5, class: "axis", "text-anchor": "middle" }, label));
  for (const { at, dash } of marks) {
    if (at < low || at > high) continue;
    parts.push(drawn("line", { x1: x(at), x2: x(at), y1: top, y2: height - bottom, class: `mark ${dash}` }));
  }
  for (const { name, values } of lines) {
    const points = values.map((value, at) => (value === null ? null : [x(xs[at]), y(value)]));
    parts.push(drawn("path", { d: path(points), class: `line ${name}` }));
  }
  const picture = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": summary }, parts);
  holder.replaceChildren(picture);
}
