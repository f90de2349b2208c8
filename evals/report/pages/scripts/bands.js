// The bands picture: each cosine a dot in its group's lane, the cutoff a line through all lanes.

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

const bands = { dots: null, lane: 0, at: -1, range: null };
const DRAWING = { lane: 84, dots: 58, top: 34, bottom: 34 };

function setBands() {
  bands.dots = bandsOf(pairs.filter(inFilter));
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

const dotPlace = (dot, at, lane, width) => [
  dotX(bands.range, cosineOf(dot.level), width),
  laneTop(lane) + 22 + DRAWING.dots / 2 + spread(at) * (DRAWING.dots - 8),
];

function drawBands() {
  byId("bands-text").textContent = LANES.map((lane) => `${lane}: ${underCutoff(lane)}`).join("; ");
  const canvas = byId("bands-canvas");
  const width = canvas.clientWidth;
  const height = DRAWING.top + LANES.length * DRAWING.lane + DRAWING.bottom;
  const base = height - DRAWING.bottom;
  const [pen, colour] = prepared(canvas, height);
  LANES.forEach((lane, nth) => drawLane(pen, lane, nth, width, colour));
  drawAxis(pen, bands.range, base, height - 2, width, colour);
  for (const cutoff of cutoffsDrawn(width)) drawCutoff(pen, cutoff, base, width, colour);
  LANES.forEach((lane, nth) => drawName(pen, lane, underCutoff(lane), laneTop(nth) + 17, colour));
  const dot = dotChosen();
  if (dot) drawRing(pen, ...dotPlace(dot, bands.at, bands.lane, width), colour);
}

function drawLane(pen, lane, nth, width, colour) {
  const dots = bands.dots[lane];
  const cosines = dots.map((dot) => cosineOf(dot.level));
  drawDots(pen, lane, laneTop(nth), dots.map((dot, at) => dotPlace(dot, at, nth, width)), width, colour);
  if (dots.length) drawSpread(pen, cosines, bands.range, laneTop(nth) + DRAWING.lane - 4, width, colour);
}

// The cutoff in force, dashed where it is not the one here.
function cutoffsDrawn(width) {
  const here = view.setting.cutoff;
  const at = (cutoff) => dotX(bands.range, cutoffs[cutoff], width);
  const moved = here !== inForce.cutoff;
  const lines = [{ at: at(inForce.cutoff), dash: moved ? [5, 4] : [], text: `in force ${cutoffText(inForce.cutoff)}`, nth: 0 }];
  return moved ? [...lines, { at: at(here), dash: [], text: `here ${cutoffText(here)}`, nth: 1 }] : lines;
}

const dotChosen = () => bands.dots[LANES[bands.lane]][bands.at];

// The dot nearest to a point of the picture, within a finger's reach.
function dotAt(x, y, reach) {
  const width = byId("bands-canvas").clientWidth;
  let best = null;
  let least = reach ** 2;
  const lane = Math.floor((y - DRAWING.top) / DRAWING.lane);
  (bands.dots[LANES[lane]] ?? []).forEach((dot, at) => {
    const [left, top] = dotPlace(dot, at, lane, width);
    const far = (left - x) ** 2 + (top - y) ** 2;
    if (far < least) [best, least] = [{ lane, at }, far];
  });
  return best;
}

function showDot() {
  const dot = dotChosen();
  const tip = byId("bands-tip");
  tip.hidden = !dot;
  if (!dot) return;
  const { pair } = dot;
  const canvas = byId("bands-canvas");
  showTip(tip, canvas, dotPlace(dot, bands.at, bands.lane, canvas.clientWidth), [
    element("strong", {}, said(pair.text)),
    [`${LANES[bands.lane]}, cosine ${cosineText(dot.level)}, `, said(`${pair.id} in ${pair.state}, ${pair.kind}`)],
    [said(pair.laws.ids[dot.law]), ": ", said(pair.laws.laws[dot.law])],
  ]);
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
  const level = dotChosen()?.level ?? view.setting.cutoff;
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
