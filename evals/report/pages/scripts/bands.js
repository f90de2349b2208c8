// The bands picture: each cosine a dot in its group's lane, the cutoff a line through all lanes.

const LANES = ["answering", "nearest wrong", "unrelated", "uncovered"];

// A pair's dots: the group's lane, the law, the level of its cosine.
function dotsOf(pair) {
  const start = rankings.nearStarts[pair.texts[0]];
  const count = rankings.nearCounts[pair.texts[0]];
  const dot = (lane, law, level) => ({ lane, pair, law, level });
  const nth = (at) => [rankings.near[start + at], rankings.levels[start + at]];
  if (pair.expects !== "answerable") return count ? [dot(pair.expects, ...nth(0))] : [];
  const dots = [];
  pair.groups.forEach((_, group) => {
    const at = pair.firstGroup + group;
    if (fates.nearPlaces[at]) dots.push(dot("answering", fates.laws[at], fates.levels[at]));
  });
  for (let at = 0; at < count; at++) {
    const [law, level] = nth(at);
    if (pair.relevant.includes(law)) continue;
    dots.push(dot("nearest wrong", law, level));
    break;
  }
  return dots;
}

function bandsOf(chosen) {
  const bands = Object.fromEntries(LANES.map((lane) => [lane, []]));
  for (const pair of chosen) for (const dot of dotsOf(pair)) bands[dot.lane].push(dot);
  for (const dots of Object.values(bands)) dots.sort((a, b) => a.level - b.level || a.pair.index - b.pair.index);
  return bands;
}

const quantile = (dots, at) => {
  const place = (dots.length - 1) * at;
  const below = cosineOf(dots[Math.floor(place)].level);
  return below + (cosineOf(dots[Math.ceil(place)].level) - below) * (place % 1);
};

const bands = { dots: null, lane: 0, at: -1, range: null };
const DRAWING = { lane: 84, dots: 58, top: 34, bottom: 34, side: 14 };

function setBands(chosen) {
  bands.dots = bandsOf(chosen);
  bands.at = -1;
  if (bands.range) return;
  const levels = pairs.flatMap(dotsOf).map((dot) => dot.level);
  const low = levels.reduce((least, level) => Math.min(least, level), cutoffs.length);
  const high = levels.reduce((most, level) => Math.max(most, level), 1);
  bands.range = [cosineOf(low) - 0.004, cosineOf(high) + 0.004];
}

function underCutoff(lane) {
  const dots = bands.dots[lane];
  const under = dots.filter((dot) => dot.level <= view.setting.cutoff).length;
  return `${whole(under)} of ${whole(dots.length)} under ${cutoffText(view.setting.cutoff)}`;
}

function laneTop(lane) {
  return DRAWING.top + lane * DRAWING.lane;
}

function bandsX(value, width) {
  const [low, high] = bands.range;
  return DRAWING.side + ((value - low) / (high - low)) * (width - 2 * DRAWING.side);
}

const dotPlace = (dot, at, lane, width) => [
  bandsX(cosineOf(dot.level), width),
  laneTop(lane) + 22 + DRAWING.dots / 2 + spread(at) * (DRAWING.dots - 8),
];

function drawBands() {
  byId("bands-text").textContent = LANES.map((lane) => `${lane}: ${underCutoff(lane)}`).join("; ");
  const canvas = byId("bands-canvas");
  const width = canvas.clientWidth;
  const height = DRAWING.top + LANES.length * DRAWING.lane + DRAWING.bottom;
  const scale = Math.max(1, devicePixelRatio);
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  const style = getComputedStyle(canvas);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  pen.fontFamily = style.fontFamily;
  pen.font = `13px ${style.fontFamily}`;
  LANES.forEach((lane, nth) => drawLane(pen, lane, nth, width, colour));
  drawAxis(pen, width, height, colour);
  drawCutoffs(pen, width, height, colour);
  LANES.forEach((lane, nth) => nameLane(pen, lane, nth, colour));
  drawFocus(pen, width, colour);
}

function drawLane(pen, lane, nth, width, colour) {
  const dots = bands.dots[lane];
  const top = laneTop(nth);
  pen.fillStyle = colour("rule");
  pen.fillRect(0, top, width, 1);
  pen.fillStyle = colour(lane.replace(" ", "-"));
  pen.globalAlpha = dots.length > 400 ? Number(colour("dots")) : 0.8;
  dots.forEach((dot, at) => {
    const [x, y] = dotPlace(dot, at, nth, width);
    drawDot(pen, nth, x, y, width < 600 ? 1.6 : 2.2);
  });
  pen.globalAlpha = 1;
  if (dots.length) drawSpread(pen, dots, top, width, colour);
}

function nameLane(pen, lane, nth, colour) {
  const top = laneTop(nth);
  pen.textAlign = "left";
  const count = underCutoff(lane);
  pen.font = `600 13px ${pen.fontFamily}`;
  const after = DRAWING.side + writeOver(pen, `${lane} `, DRAWING.side, top + 17, colour);
  pen.font = `13px ${pen.fontFamily}`;
  writeOver(pen, count, after, top + 17, colour);
}

// The middle half as a bar, 5 % to 95 % as a line, the median as a gap in the bar.
function drawSpread(pen, dots, top, width, colour) {
  const [low, first, middle, third, high] = [0.05, 0.25, 0.5, 0.75, 0.95].map((at) => bandsX(quantile(dots, at), width));
  const y = top + DRAWING.lane - 4;
  pen.fillStyle = colour("ink");
  pen.fillRect(low, y - 0.5, high - low, 1);
  pen.fillRect(first, y - 2.5, third - first, 5);
  pen.fillStyle = colour("paper");
  pen.fillRect(middle - 1.5, y - 2.5, 3, 5);
}

function drawAxis(pen, width, height, colour) {
  const base = height - DRAWING.bottom;
  pen.fillStyle = colour("rule");
  pen.fillRect(0, base, width, 1);
  pen.fillStyle = colour("muted");
  pen.textAlign = "center";
  for (const value of ticks(...bands.range, width < 500 ? 4 : 9)) {
    const x = bandsX(value, width);
    pen.fillRect(x, base, 1, 5);
    pen.fillText(String(value), x, base + 18);
  }
  pen.textAlign = "right";
  pen.fillText("cosine", width - DRAWING.side, base + 32);
}

function drawCutoffs(pen, width, height, colour) {
  const here = view.setting.cutoff;
  const drawLine = (cutoff, dash, text, row) => {
    const x = Math.round(bandsX(cutoffs[cutoff], width)) + 0.5;
    if (x < 0 || x > width) return;
    pen.strokeStyle = colour("ink");
    pen.lineWidth = 1.5;
    pen.setLineDash(dash);
    pen.beginPath();
    pen.moveTo(x, 18 * row + 2);
    pen.lineTo(x, height - DRAWING.bottom);
    pen.stroke();
    pen.setLineDash([]);
    const left = x > width / 2;
    pen.textAlign = left ? "right" : "left";
    pen.fillStyle = colour("ink");
    pen.fillText(text, x + (left ? -5 : 5), 13 + 16 * row);
  };
  drawLine(inForce.cutoff, here === inForce.cutoff ? [] : [5, 4], `in force ${cutoffText(inForce.cutoff)}`, 0);
  if (here !== inForce.cutoff) drawLine(here, [], `here ${cutoffText(here)}`, 1);
}

function drawFocus(pen, width, colour) {
  const dot = bands.dots[LANES[bands.lane]][bands.at];
  if (!dot) return;
  const [x, y] = dotPlace(dot, bands.at, bands.lane, width);
  pen.strokeStyle = colour("ink");
  pen.lineWidth = 2;
  pen.beginPath();
  pen.arc(x, y, 7, 0, 7);
  pen.stroke();
}

// The dot nearest to a point of the picture, within a finger's reach.
function dotAt(x, y, reach) {
  const width = byId("bands-canvas").clientWidth;
  let best = null;
  let least = reach ** 2;
  const lane = Math.floor((y - DRAWING.top) / DRAWING.lane);
  (bands.dots[LANES[lane]] ?? []).forEach((dot, at) => {
    const [dotX, dotY] = dotPlace(dot, at, lane, width);
    const far = (dotX - x) ** 2 + (dotY - y) ** 2;
    if (far < least) [best, least] = [{ lane, at }, far];
  });
  return best;
}

function showDot() {
  const dot = bands.dots[LANES[bands.lane]][bands.at];
  const tip = byId("bands-tip");
  tip.hidden = !dot;
  if (!dot) return;
  const { pair } = dot;
  tip.replaceChildren(
    element("p", {}, element("strong", {}, said(pair.text))),
    element("p", {}, `${LANES[bands.lane]}, cosine ${cosineText(dot.level)}, `, said(`${pair.id} in ${pair.state}, ${pair.kind}`)),
    element("p", {}, said(pair.laws.ids[dot.law]), ": ", said(pair.laws.laws[dot.law])),
  );
  const canvas = byId("bands-canvas");
  const [x, y] = dotPlace(dot, bands.at, bands.lane, canvas.clientWidth);
  const left = Math.max(0, Math.min(canvas.clientWidth - tip.offsetWidth, x - tip.offsetWidth / 2));
  tip.style.left = `${left}px`;
  tip.style.top = `${canvas.offsetTop + y + 14}px`;
}

function chooseDot(lane, at) {
  bands.lane = lane;
  bands.at = at;
  drawBands();
  showDot();
}

// From dot to dot by the arrow keys; to a lane's ends by Home and End; to the cutoff's neighbour on first focus.
function bandsKey(event) {
  const dots = bands.dots[LANES[bands.lane]];
  const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -25, PageDown: 25 }[event.key];
  const lane = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (step) chooseDot(bands.lane, Math.min(dots.length - 1, Math.max(0, bands.at + step)));
  else if (lane) nextLane(lane);
  else if (event.key === "Home") chooseDot(bands.lane, 0);
  else if (event.key === "End") chooseDot(bands.lane, dots.length - 1);
  else if (event.key === "Escape") chooseDot(bands.lane, -1);
  else if (event.key === "Enter" && dots[bands.at]) openTrace(dots[bands.at].pair);
  else return;
  event.preventDefault();
}

function nextLane(step) {
  const level = bands.dots[LANES[bands.lane]][bands.at]?.level ?? view.setting.cutoff;
  for (let lane = bands.lane + step; LANES[lane]; lane += step) {
    const dots = bands.dots[LANES[lane]];
    if (!dots.length) continue;
    const at = dots.findIndex((dot) => dot.level >= level);
    chooseDot(lane, at < 0 ? dots.length - 1 : at);
    return;
  }
}

function focusBands() {
  if (bands.at >= 0) return;
  const lane = LANES.findIndex((name) => bands.dots[name].length);
  if (lane < 0) return;
  const at = bands.dots[LANES[lane]].findIndex((dot) => dot.level > view.setting.cutoff);
  chooseDot(lane, Math.max(0, at));
}

function wireBands() {
  const canvas = byId("bands-canvas");
  canvas.addEventListener("pointermove", (event) => {
    const found = dotAt(event.offsetX, event.offsetY, 12);
    if (found) chooseDot(found.lane, found.at);
    else if (bands.at >= 0 && document.activeElement !== canvas) chooseDot(bands.lane, -1);
    canvas.classList.toggle("over", Boolean(found));
  });
  canvas.addEventListener("pointerleave", () => document.activeElement !== canvas && chooseDot(bands.lane, -1));
  canvas.addEventListener("click", (event) => {
    const found = dotAt(event.offsetX, event.offsetY, 16);
    if (found) openTrace(bands.dots[LANES[found.lane]][found.at].pair);
  });
  canvas.addEventListener("keydown", bandsKey);
  canvas.addEventListener("focus", () => canvas.matches(":focus-visible") && focusBands());
  canvas.addEventListener("blur", () => chooseDot(bands.lane, -1));
  new ResizeObserver(drawBands).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawBands);
}
