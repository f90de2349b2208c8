// The bands of one side or both: each cosine a dot in its lane, each side's cutoff a line.
//
// Where both sides have one model they share an axis, and a lane holds a row a side, or one row where every cosine is the
// same. Where the models differ so do the axes: each side has a picture of its own.

const LANES = ["answering", "nearest wrong", "unrelated", "uncovered"];
const ROW = { top: 24, dots: 40, height: 74, head: 40, foot: 36, side: 14 };
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

function dotX(picture, value, width) {
  const [low, high] = picture.range;
  return ROW.side + ((value - low) / (high - low)) * (width - 2 * ROW.side);
}

const placeOf = (picture, row, at, width) => [
  dotX(picture, picture.rows[row].dots[at].cosine, width),
  rowTop(row) + ROW.top + ROW.dots / 2 + spread(at) * (ROW.dots - 8),
];

function drawPicture(picture) {
  const { canvas, rows } = picture;
  const height = pictureHeight(picture);
  canvas.style.height = `${height}px`;
  picture.text.textContent = rows.map((row) => `${rowName(row)}: ${underSaid(picture, row)}`).join("; ");
  const width = canvas.clientWidth;
  const scale = Math.max(1, devicePixelRatio);
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  const style = getComputedStyle(canvas);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  pen.fontFamily = style.fontFamily;
  pen.font = `13px ${style.fontFamily}`;
  rows.forEach((row, at) => drawRow(pen, picture, row, at, width, colour));
  drawPictureAxis(pen, picture, width, height, colour);
  picture.sides.forEach((side, nth) => drawCutoff(pen, picture, side, nth, width, colour));
  rows.forEach((row, at) => nameRow(pen, picture, row, at, width, colour));
  drawRing(pen, picture, width, colour);
}

function drawRow(pen, picture, row, at, width, colour) {
  pen.fillStyle = colour("rule");
  pen.fillRect(0, rowTop(at), width, 1);
  pen.fillStyle = colour(row.lane.replace(" ", "-"));
  pen.globalAlpha = row.dots.length > 400 ? Number(colour("dots")) : 0.8;
  row.dots.forEach((_, nth) => {
    const [x, y] = placeOf(picture, at, nth, width);
    drawDot(pen, LANES.indexOf(row.lane), x, y, width < 600 ? 1.6 : 2.2);
  });
  pen.globalAlpha = 1;
  if (row.dots.length) drawMiddle(pen, picture, row, rowTop(at) + ROW.height - 5, width, colour);
}

// The middle half as a bar, 5 % to 95 % as a line, the median as a gap in the bar.
function drawMiddle(pen, picture, row, y, width, colour) {
  const at = (share) => {
    const place = (row.dots.length - 1) * share;
    const [below, above] = [row.dots[Math.floor(place)].cosine, row.dots[Math.ceil(place)].cosine];
    return dotX(picture, below + (above - below) * (place % 1), width);
  };
  const [low, first, middle, third, high] = [0.05, 0.25, 0.5, 0.75, 0.95].map(at);
  pen.fillStyle = colour("ink");
  pen.fillRect(low, y - 0.5, high - low, 1);
  pen.fillRect(first, y - 2.5, third - first, 5);
  pen.fillStyle = colour("paper");
  pen.fillRect(middle - 1.5, y - 2.5, 3, 5);
}

function nameRow(pen, picture, row, at, width, colour) {
  pen.textAlign = "left";
  pen.font = `600 13px ${pen.fontFamily}`;
  const after = ROW.side + writeOver(pen, `${rowName(row)} `, ROW.side, rowTop(at) + 17, colour);
  pen.font = `13px ${pen.fontFamily}`;
  writeOver(pen, underSaid(picture, row, width < 500), after, rowTop(at) + 17, colour);
}

function drawPictureAxis(pen, picture, width, height, colour) {
  const base = height - ROW.foot;
  pen.fillStyle = colour("rule");
  pen.fillRect(0, base, width, 1);
  pen.fillStyle = colour("muted");
  pen.textAlign = "center";
  for (const value of ticks(...picture.range, width < 500 ? 4 : 9)) {
    const x = dotX(picture, value, width);
    pen.fillRect(x, base, 1, 5);
    pen.fillText(String(value), x, base + 18);
  }
  pen.textAlign = "right";
  pen.fillText("cosine", width - ROW.side, base + 33);
}

// The first side's line is dashed; a cutoff that did not move is one line.
function drawCutoff(pen, picture, side, nth, width, colour) {
  const { cutoff } = SIDES[side];
  const moved = picture.sides.length === 2 && SIDES[0].cutoff !== SIDES[1].cutoff;
  if (picture.sides.length === 2 && !moved && nth) return;
  const x = Math.round(dotX(picture, cutoff, width)) + 0.5;
  pen.strokeStyle = colour("ink");
  pen.lineWidth = 1.5;
  pen.setLineDash(moved && !nth ? [5, 4] : []);
  pen.beginPath();
  pen.moveTo(x, 18 * nth + 2);
  pen.lineTo(x, rowTop(picture.rows.length));
  pen.stroke();
  pen.setLineDash([]);
  const left = x > width / 2;
  pen.textAlign = left ? "right" : "left";
  pen.fillStyle = colour("ink");
  pen.fillText(`${moved ? `${SIDE_NAMES[side]} ` : "cutoff "}${cutoff}`, x + (left ? -5 : 5), 13 + 16 * nth);
}

function drawRing(pen, picture, width, colour) {
  if (!picture.rows[picture.row]?.dots[picture.at]) return;
  const [x, y] = placeOf(picture, picture.row, picture.at, width);
  pen.strokeStyle = colour("ink");
  pen.lineWidth = 2;
  pen.beginPath();
  pen.arc(x, y, 7, 0, 7);
  pen.stroke();
}

function showDot(picture) {
  const row = picture.rows[picture.row];
  const dot = row?.dots[picture.at];
  const { tip, canvas } = picture;
  tip.hidden = !dot;
  if (!dot) return;
  const { pair } = dot;
  tip.replaceChildren(
    element("p", {}, element("strong", {}, said(pair.text || pair.id))),
    element("p", {}, `${rowName(row)}, cosine ${cut(dot.cosine)}, `, said(`${pair.id} in ${pair.state}, ${pair.kind}`)),
    element("p", {}, said(lawName(pair, dot)), " ", said(pair.laws.texts[dot.laws[0]])),
  );
  const [x, y] = placeOf(picture, picture.row, picture.at, canvas.clientWidth);
  tip.style.left = `${Math.max(0, Math.min(canvas.clientWidth - tip.offsetWidth, x - tip.offsetWidth / 2))}px`;
  tip.style.top = `${canvas.offsetTop + y + 14}px`;
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
    const [dotAtX, dotAtY] = placeOf(picture, row, at, width);
    const far = (dotAtX - x) ** 2 + (dotAtY - y) ** 2;
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
  const value = picture.rows[picture.row].dots[picture.at]?.cosine ?? SIDES[picture.sides[0]].cutoff;
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
