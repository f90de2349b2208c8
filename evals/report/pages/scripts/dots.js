// How the bands are drawn on a canvas: lanes of dots over an axis of cosines, cutoffs as lines, one dot ringed.

const LANES = ["answering", "nearest wrong", "unrelated", "uncovered"];
const MARGIN = 14;

// The pen of a canvas that is made as fine as the screen, and the style's colours by name.
function prepared(canvas, height) {
  const scale = Math.max(1, devicePixelRatio);
  canvas.width = Math.round(canvas.clientWidth * scale);
  canvas.height = Math.round(height * scale);
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  const style = getComputedStyle(canvas);
  pen.fontFamily = style.fontFamily;
  pen.font = `13px ${style.fontFamily}`;
  return [pen, (name) => style.getPropertyValue(`--${name}`).trim()];
}

function dotX([low, high], cosine, width) {
  return MARGIN + ((cosine - low) / (high - low)) * (width - 2 * MARGIN);
}

// Dots of a lane are spread by the golden ratio's multiples, always the same.
const spread = (at) => ((at * 0.6180339887) % 1) - 0.5;

// Text on a patch of paper, so that no line crosses it; its width.
function writeOver(pen, text, x, y, colour) {
  const { width } = pen.measureText(text);
  pen.fillStyle = colour("paper");
  pen.fillRect(x, y - 13, width, 17);
  pen.fillStyle = colour("ink");
  pen.fillText(text, x, y);
  return width;
}

// A shape a lane: circle, square, triangle, diamond.
function drawDot(pen, lane, x, y, radius) {
  pen.beginPath();
  if (lane === 0) pen.arc(x, y, radius, 0, 7);
  else if (lane === 1) pen.rect(x - radius, y - radius, 2 * radius, 2 * radius);
  else if (lane === 2) pen.moveTo(x, y - radius * 1.3), pen.lineTo(x + radius * 1.3, y + radius), pen.lineTo(x - radius * 1.3, y + radius);
  else pen.moveTo(x, y - radius * 1.4), pen.lineTo(x + radius * 1.4, y), pen.lineTo(x, y + radius * 1.4), pen.lineTo(x - radius * 1.4, y);
  pen.fill();
}

// The dots of a lane, at these places under a rule.
function drawDots(pen, lane, top, places, width, colour) {
  pen.fillStyle = colour("rule");
  pen.fillRect(0, top, width, 1);
  pen.fillStyle = colour(lane.replace(" ", "-"));
  pen.globalAlpha = places.length > 400 ? Number(colour("dots")) : 0.8;
  for (const [x, y] of places) drawDot(pen, LANES.indexOf(lane), x, y, width < 600 ? 1.6 : 2.2);
  pen.globalAlpha = 1;
}

// The middle half as a bar, 5 % to 95 % as a line, the median as a gap in the bar. cosines: rising, one or more.
function drawSpread(pen, cosines, range, y, width, colour) {
  const quantile = (share) => {
    const place = (cosines.length - 1) * share;
    const below = cosines[Math.floor(place)];
    return below + (cosines[Math.ceil(place)] - below) * (place % 1);
  };
  const [low, first, middle, third, high] = [0.05, 0.25, 0.5, 0.75, 0.95].map((share) => dotX(range, quantile(share), width));
  pen.fillStyle = colour("ink");
  pen.fillRect(low, y - 0.5, high - low, 1);
  pen.fillRect(first, y - 2.5, third - first, 5);
  pen.fillStyle = colour("paper");
  pen.fillRect(middle - 1.5, y - 2.5, 3, 5);
}

function drawName(pen, name, count, y, colour) {
  pen.textAlign = "left";
  pen.font = `600 13px ${pen.fontFamily}`;
  const after = MARGIN + writeOver(pen, `${name} `, MARGIN, y, colour);
  pen.font = `13px ${pen.fontFamily}`;
  writeOver(pen, count, after, y, colour);
}

// named: where the axis's name stands.
function drawAxis(pen, range, base, named, width, colour) {
  pen.fillStyle = colour("rule");
  pen.fillRect(0, base, width, 1);
  pen.fillStyle = colour("muted");
  pen.textAlign = "center";
  for (const cosine of ticks(...range, width < 500 ? 4 : 9)) {
    const x = dotX(range, cosine, width);
    pen.fillRect(x, base, 1, 5);
    pen.fillText(String(cosine), x, base + 18);
  }
  pen.textAlign = "right";
  pen.fillText("cosine", width - MARGIN, named);
}

// A cutoff's line down to the axis, its text in the nth line above the lanes.
function drawCutoff(pen, { at, dash, text, nth }, base, width, colour) {
  const x = Math.round(at) + 0.5;
  if (x < 0 || x > width) return;
  pen.strokeStyle = colour("ink");
  pen.lineWidth = 1.5;
  pen.setLineDash(dash);
  pen.beginPath();
  pen.moveTo(x, 18 * nth + 2);
  pen.lineTo(x, base);
  pen.stroke();
  pen.setLineDash([]);
  const left = x > width / 2;
  pen.textAlign = left ? "right" : "left";
  pen.fillStyle = colour("ink");
  pen.fillText(text, x + (left ? -5 : 5), 13 + 16 * nth);
}

function drawRing(pen, x, y, colour) {
  pen.strokeStyle = colour("ink");
  pen.lineWidth = 2;
  pen.beginPath();
  pen.arc(x, y, 7, 0, 7);
  pen.stroke();
}

// What a dot is, in lines under it.
function showTip(tip, canvas, [x, y], lines) {
  tip.replaceChildren(...lines.map((line) => element("p", {}, line)));
  tip.style.left = `${Math.max(0, Math.min(canvas.clientWidth - tip.offsetWidth, x - tip.offsetWidth / 2))}px`;
  tip.style.top = `${canvas.offsetTop + y + 14}px`;
}
