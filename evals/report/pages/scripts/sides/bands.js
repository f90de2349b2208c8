// The bands of one side or both: each cosine a dot in its lane, each side's cutoff a line.
//
// Where both sides have one model they share an axis, and a lane holds a row a side, or one row where every cosine is the
// same. Where the models differ so do the axes: each side has a picture of its own.

const ROW = { top: 24, dots: 40, height: 74, head: 40, foot: 36 };
const sameModel = two && SIDES[0].model === SIDES[1].model;

// A pair's dots on a side: its lane, the law or laws, the cosine.
function dotsOf(pair, side) {
  const own = pair.sides[side];
  if (!own) return [];
  const dot = (lane, laws, cosine) => ({ lane, pair, laws, cosine });
  const dots = pair.groups
    .filter((group) => expectedOn(group, side) && group.cosines[side] !== null)
    .map((group) => dot("answering", group.laws, group.cosines[side]));
  if (own.cosine !== null) dots.push(dot(pair.expects === "answerable" ? "nearest wrong" : pair.expects, [own.law], own.cosine));
  return dots;
}

const allDots = SIDES.map((_, side) => pairs.flatMap((pair) => dotsOf(pair, side)));
const asOne = sameModel && same(...allDots);

function same(one, other) {
  return one.length === other.length && one.every((dot, at) => dot.pair === other[at].pair && dot.cosine === other[at].cosine);
}

function rangeOf(dots, sides) {
  const values = [...dots.map((dot) => dot.cosine), ...sides.map((side) => SIDES[side].cutoff)];
  const low = values.reduce((least, value) => Math.min(least, value), Infinity);
  const high = values.reduce((most, value) => Math.max(most, value), -Infinity);
  return [low - 0.004, high + 0.004];
}

// The pictures: whose sides they show, their axis, their rows.
const pictures = [];

function makePictures() {
  const shared = sameModel || !two;
  const groups = shared ? [SIDES.map((_, side) => side)] : [[0], [1]];
  for (const sides of groups) {
    const dots = sides.flatMap((side) => allDots[side]);
    if (!dots.length) continue;
    const rowSides = asOne ? [last] : sides;
    const rows = LANES.filter((lane) => dots.some((dot) => dot.lane === lane)).flatMap((lane) => rowSides.map((side) => ({ lane, side, dots: [] })));
    pictures.push({ sides, rows, range: rangeOf(dots, sides), row: 0, at: -1, ...pictureElements() });
  }
  const holder = byId("bands-pictures");
  if (!pictures.length) holder.append(element("p", { class: "none" }, "No cosine is known here."));
  for (const picture of pictures) {
    if (!shared) holder.append(element("h3", {}, `${capital(SIDE_NAMES[picture.sides[0]])}: `, said(SIDES[picture.sides[0]].model ?? "")));
    holder.append(picture.text, element("div", { class: "picture" }, picture.canvas, picture.tip));
    wirePicture(picture);
  }
  if (asOne) holder.prepend(element("p", { class: "note" }, "Every cosine is the same on both sides: each stands here once."));
}

let pictureCount = 0;
function pictureElements() {
  const id = `bands-text-${pictureCount++}`;
  return {
    text: element("p", { class: "unseen", id }),
    canvas: element("canvas", {
      class: "dots",
      tabindex: "0",
      role: "application",
      "aria-label": "Cosines by band, with each cutoff as a line. Arrow keys go from dot to dot.",
      "aria-describedby": id,
    }),
    tip: element("div", { class: "dots-tip", role: "status", hidden: true }),
  };
}

function setBands() {
  const chosen = pairs.filter(inFilter);
  for (const picture of pictures) {
    for (const row of picture.rows) {
      row.dots = chosen.flatMap((pair) => dotsOf(pair, row.side)).filter((dot) => dot.lane === row.lane);
      row.dots.sort((a, b) => a.cosine - b.cosine || a.pair.index - b.pair.index);
      row.without = withoutCosine(chosen, row);
    }
    picture.at = -1;
  }
}

// How many questions that no law answers have no cosine here: a report may hold those of returned laws alone.
function withoutCosine(chosen, row) {
  return chosen.filter((pair) => pair.expects === row.lane && pair.sides[row.side] && pair.sides[row.side].cosine === null).length;
}

function underSaid(picture, row, narrow = false) {
  const sides = asOne ? picture.sides : [row.side];
  const counts = sides.map((side) => whole(row.dots.filter((dot) => dot.cosine < SIDES[side].cutoff).length));
  const cutoffs = sides.map((side) => SIDES[side].cutoff);
  const [under, cutoff] = [counts, cutoffs].map((values) => [...new Set(values)].join(" → "));
  const text = `${under} of ${whole(row.dots.length)} under${narrow ? "" : ` ${cutoff}`}`;
  return row.without ? `${text}; ${whole(row.without)} without a cosine` : text;
}

const rowName = (row) => (two && !asOne && sameModel ? `${row.lane}, ${SIDE_NAMES[row.side]}` : row.lane);
const rowTop = (at) => ROW.head + at * ROW.height;
const pictureHeight = (picture) => ROW.head + picture.rows.length * ROW.height + ROW.foot;

const placeOf = (picture, row, at, width) => [
  dotX(picture.range, picture.rows[row].dots[at].cosine, width),
  rowTop(row) + ROW.top + ROW.dots / 2 + spread(at) * (ROW.dots - 8),
];

function drawPicture(picture) {
  const { canvas, rows } = picture;
  const height = pictureHeight(picture);
  canvas.style.height = `${height}px`;
  picture.text.textContent = rows.map((row) => `${rowName(row)}: ${underSaid(picture, row)}`).join("; ");
  const width = canvas.clientWidth;
  const base = height - ROW.foot;
  const [pen, colour] = prepared(canvas, height);
  rows.forEach((row, at) => drawRow(pen, picture, row, at, width, colour));
  drawAxis(pen, picture.range, base, height - 3, width, colour);
  for (const cutoff of cutoffsDrawn(picture, width)) drawCutoff(pen, cutoff, base, width, colour);
  rows.forEach((row, at) => drawName(pen, rowName(row), underSaid(picture, row, width < 500), rowTop(at) + 17, colour));
  if (dotChosen(picture)) drawRing(pen, ...placeOf(picture, picture.row, picture.at, width), colour);
}

function drawRow(pen, picture, row, at, width, colour) {
  const cosines = row.dots.map((dot) => dot.cosine);
  drawDots(pen, row.lane, rowTop(at), cosines.map((_, nth) => placeOf(picture, at, nth, width)), width, colour);
  if (cosines.length) drawSpread(pen, cosines, picture.range, rowTop(at) + ROW.height - 5, width, colour);
}

// The first side's line is dashed; a cutoff that did not move is one line.
function cutoffsDrawn({ sides, range }, width) {
  const moved = sides.length === 2 && SIDES[0].cutoff !== SIDES[1].cutoff;
  return (moved ? sides : sides.slice(0, 1)).map((side, nth) => {
    const { cutoff } = SIDES[side];
    const name = moved ? SIDE_NAMES[side] : "cutoff";
    return { at: dotX(range, cutoff, width), dash: moved && !nth ? [5, 4] : [], text: `${name} ${cutoff}`, nth };
  });
}

const dotChosen = (picture) => picture.rows[picture.row]?.dots[picture.at];

function showDot(picture) {
  const dot = dotChosen(picture);
  const { tip, canvas } = picture;
  tip.hidden = !dot;
  if (!dot) return;
  const { pair } = dot;
  showTip(tip, canvas, placeOf(picture, picture.row, picture.at, canvas.clientWidth), [
    element("strong", {}, said(pair.text || pair.id)),
    [`${rowName(picture.rows[picture.row])}, cosine ${cut(dot.cosine)}, `, said(`${pair.id} in ${pair.state}, ${pair.kind}`)],
    [said(lawsOf(pair, dot)), " ", said(pair.laws.texts[dot.laws[0]])],
  ]);
}

function chooseDot(picture, row, at) {
  Object.assign(picture, { row, at });
  drawPicture(picture);
  showDot(picture);
}

// The dot nearest to a point of the picture, within a finger's reach.
function nearestDot(picture, x, y, reach) {
  const width = picture.canvas.clientWidth;
  const row = Math.floor((y - ROW.head) / ROW.height);
  let best = -1;
  let least = reach ** 2;
  (picture.rows[row]?.dots ?? []).forEach((_, at) => {
    const [left, top] = placeOf(picture, row, at, width);
    const far = (left - x) ** 2 + (top - y) ** 2;
    if (far < least) [best, least] = [at, far];
  });
  return [row, best];
}

// From dot to dot by the arrow keys; to a row's ends by Home and End.
function pictureKey(picture, event) {
  const dots = picture.rows[picture.row].dots;
  const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -25, PageDown: 25 }[event.key];
  const row = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (step) chooseDot(picture, picture.row, Math.min(dots.length - 1, Math.max(0, picture.at + step)));
  else if (row) nextRow(picture, row);
  else if (event.key === "Home") chooseDot(picture, picture.row, 0);
  else if (event.key === "End") chooseDot(picture, picture.row, dots.length - 1);
  else if (event.key === "Escape") chooseDot(picture, picture.row, -1);
  else if (event.key === "Enter" && dots[picture.at]) openTrace(dots[picture.at].pair);
  else return;
  event.preventDefault();
}

function nextRow(picture, step) {
  const value = dotChosen(picture)?.cosine ?? SIDES[picture.sides[0]].cutoff;
  for (let row = picture.row + step; picture.rows[row]; row += step) {
    const { dots } = picture.rows[row];
    if (!dots.length) continue;
    const at = dots.findIndex((dot) => dot.cosine >= value);
    chooseDot(picture, row, at < 0 ? dots.length - 1 : at);
    return;
  }
}

// On first focus, the dot just above the cutoff in the first row that has any.
function enterPicture(picture) {
  if (picture.at >= 0) return;
  const row = picture.rows.findIndex(({ dots }) => dots.length);
  if (row < 0) return;
  const { dots, side } = picture.rows[row];
  chooseDot(picture, row, Math.max(0, dots.findIndex((dot) => dot.cosine >= SIDES[side].cutoff)));
}

function wirePicture(picture) {
  const { canvas } = picture;
  const leave = () => chooseDot(picture, picture.row, -1);
  canvas.addEventListener("pointermove", (event) => {
    const [row, at] = nearestDot(picture, event.offsetX, event.offsetY, 12);
    if (at >= 0) chooseDot(picture, row, at);
    else if (picture.at >= 0 && document.activeElement !== canvas) leave();
    canvas.classList.toggle("over", at >= 0);
  });
  canvas.addEventListener("pointerleave", () => document.activeElement !== canvas && leave());
  canvas.addEventListener("click", (event) => {
    const [row, at] = nearestDot(picture, event.offsetX, event.offsetY, 16);
    if (at >= 0) openTrace(picture.rows[row].dots[at].pair);
  });
  canvas.addEventListener("keydown", (event) => pictureKey(picture, event));
  canvas.addEventListener("focus", () => canvas.matches(":focus-visible") && enterPicture(picture));
  canvas.addEventListener("blur", leave);
  new ResizeObserver(() => drawPicture(picture)).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawPicture(picture));
}
