// One question on one side or both: where each expected law went, and what every stage returned.

function traceParts(pair) {
  const about = [`${pair.id}, asked in ${pair.state}`, pair.kind, pair.language, pair.topic].filter(Boolean);
  return [
    element("p", { class: "meta" }, said(about.join("; ")), only(pair)),
    ...askedSaid(pair),
    pair.groups.length
      ? element("ul", { class: "fates" }, pair.groups.map((group) => fate(pair, group)))
      : element("p", {}, `No law is expected: the question is ${pair.expects}.`),
    ...rankingTables(pair),
  ];
}

// What was asked and how it was answered, where it is not the plain case or not the same on both sides.
function askedSaid(pair) {
  const lines = [];
  pair.sides.forEach((side, at) => {
    if (!side) return;
    const name = two ? `${capital(SIDE_NAMES[at])}: ` : "";
    if (side.text !== pair.text) lines.push([`${name}asked as `, said(side.text)]);
    if (side.searches.length) lines.push([`${name}searched for `, said(side.searches.join("; "))]);
    if (side.rephrase !== "off") lines.push([`${name}searches `, said(side.rephrase)]);
    if (side.outcome !== "off") lines.push([`${name}answer `, said(side.outcome)]);
  });
  return lines.map((line) => element("p", { class: "meta" }, line));
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);

function fate(pair, group) {
  const stages = STAGES.map((_, stage) => stage);
  const flipped = (kind) => stages.filter((stage) => flipOf(pair, group, stage) === kind);
  const [lost, gained] = [flipped("lost"), flipped("gained")];
  const names = (found) => found.map((stage) => STAGES[stage]).join(", ");
  const heads = [];
  if (lost.length) heads.push(`Lost by ${names(lost)}`);
  if (gained.length) heads.push(`Gained by ${names(gained)}`);
  if (!heads.length) heads.push(standing(pair, group));
  const kind = lost.length ? "lost" : gained.length ? "gained" : standsIn(pair, group) ? "reached" : "lost";
  const text = pair.laws.texts[group.laws[0]] ?? "";
  return element(
    "li",
    { class: kind },
    element("p", {}, element("strong", {}, `${heads.join("; ")}: `), said(lawsOf(pair, group)), " ", said(text)),
    expectedSaid(pair, group),
    placeTable(pair, group),
    pair.sides.map((side, at) => side && wentSaid(pair, group, at)),
  );
}

// Whether the last stage that was run has the group, on the last side that holds the pair.
function standsIn(pair, group) {
  const side = heldBy(pair);
  const stage = STAGES.findLastIndex((_, at) => hasRun(pair, side, at));
  return reached(group, side, stage);
}

function standing(pair, group) {
  const sides = two && !pair.sides.includes(null) ? " on both sides" : "";
  const side = heldBy(pair);
  const stages = STAGES.filter((_, stage) => reached(group, side, stage));
  return stages.length ? `Returned by ${stages.join(", ")}${sides}` : `Returned by no stage${sides}`;
}

function expectedSaid(pair, group) {
  if (!two || pair.sides.includes(null) || group.expected === 3) return null;
  const text = group.expected === 1 ? "Expected only before; it is judged all the same." : "Expected only now: nobody can judge what became of it.";
  return element("p", { class: "meta" }, text);
}

// A group's place at every stage on each side.
function placeTable(pair, group) {
  const rows = pair.sides.map((side, at) => side && placeRow(pair, group, at)).filter(Boolean);
  const head = element("tr", {}, two ? element("td") : null, STAGES.map((stage) => element("th", { scope: "col" }, stage)), element("th", { scope: "col", class: "number" }, "cosine"));
  return element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": `Places of ${lawsOf(pair, group)}` }, element("table", { class: "places" }, element("thead", {}, head), element("tbody", {}, rows)));
}

function placeRow(pair, group, side) {
  const place = (stage) => {
    if (!hasRun(pair, side, stage)) return "not run";
    const length = pair.lengths[side][stage] - 1;
    return reached(group, side, stage) ? `${group.places[side][stage] - 1} of ${length}` : `not in ${length}`;
  };
  return element(
    "tr",
    {},
    two ? element("th", { scope: "row" }, SIDE_NAMES[side]) : null,
    STAGES.map((_, stage) => element("td", { class: two ? flipOf(pair, group, stage) : "" }, place(stage))),
    element("td", { class: "number" }, cosineSaid(group.cosines[side])),
  );
}

// Where a group went on a side, in a sentence a cause.
function wentSaid(pair, group, side) {
  const lines = [];
  const missing = (stage) => {
    const at = STAGES.indexOf(stage);
    return at >= 0 && hasRun(pair, side, at) && !reached(group, side, at) ? pair.lengths[side][at] - 1 : null;
  };
  const arrived = (stage) => STAGES.includes(stage) && reached(group, side, STAGES.indexOf(stage));
  const near = missing("near");
  const cosine = group.cosines[side];
  const { cutoff } = SIDES[side];
  if (near !== null && cosine !== null) {
    if (cosine < cutoff) lines.push(`its cosine ${cut(cosine)} lies under the cutoff ${cutoff}`);
    else lines.push(`its cosine ${cut(cosine)} reaches the cutoff ${cutoff}, but the ${plural(near, "law")} that the near search returned lie nearer`);
  }
  if (missing("words") !== null) lines.push(`not among the ${plural(missing("words"), "law")} found by words`);
  const found = ["words", "near"].filter(arrived);
  if (missing("pool") !== null && found.length) lines.push(`found by ${found.join(" and ")}, and fused below the ${plural(missing("pool"), "law")} of the pool`);
  if (missing("answer") !== null && arrived("pool")) lines.push(`in the pool, and not among the ${plural(missing("answer"), "law")} of the answer`);
  if (!lines.length) return null;
  return element("p", { class: "meta" }, `${two ? `${capital(SIDE_NAMES[side])}: ` : ""}${lines.join("; ")}.`);
}

// What every stage returned, a stage a fold; the one looked at is open.
function rankingTables(pair) {
  if (!pair.kept) {
    const why = pair.changed ? "lost and gained no expected law" : "did not change";
    return [element("p", { class: "note" }, `What the stages returned ${why} and is left out, to keep the page small.`)];
  }
  const open = placeStage();
  return STAGES.map((stage, at) =>
    element("details", { open: at === open }, element("summary", {}, `${stage}: ${stageSummary(pair, at)}`), rankingTable(pair, at)),
  );
}

function stageSummary(pair, stage) {
  const there = SIDE_NAMES.map((_, side) => side).filter((side) => pair.sides[side]);
  const counts = there.map((side) => (hasRun(pair, side, stage) ? plural(pair.lengths[side][stage] - 1, "law") : "not run"));
  if (there.length < 2) return counts[0];
  if (there.some((side) => !hasRun(pair, side, stage))) return `${counts[0]} before, ${counts[1]} now`;
  const [was, now] = there.map((side) => new Set(pair.rankings[side][stage]));
  const gone = [...was].filter((law) => !now.has(law)).length;
  const come = [...now].filter((law) => !was.has(law)).length;
  if (!((pair.changed >> stage) & 1)) return `${counts[1]}, the same in the same order`;
  return `${counts[0]} before, ${counts[1]} now; ${gone} gone, ${come} new`;
}

function rankingTable(pair, stage) {
  const there = SIDE_NAMES.map((_, side) => side).filter((side) => pair.sides[side]);
  const deepest = Math.max(...there.map((side) => pair.rankings[side][stage].length));
  if (!deepest) return element("p", { class: "none" }, "Nothing.");
  const rest = Math.max(...there.map((side) => pair.lengths[side][stage] - 1)) - deepest;
  const head = there.map((side) => element("th", { scope: "col" }, two ? SIDE_NAMES[side] : "law"));
  const rows = Array.from({ length: deepest }, (_, at) =>
    element("tr", {}, element("th", { scope: "row", class: "number" }, String(at + 1)), there.map((side) => lawCell(pair, stage, side, at))),
  );
  return element(
    "div",
    { class: "wide" },
    element(
      "table",
      { class: "rankings" },
      element("caption", {}, element("span", {}, `${capital(STAGES[stage])}, best first. ✓ expected, ○ accepted.`)),
      element("thead", {}, element("tr", {}, element("td"), head)),
      element("tbody", {}, rows),
    ),
    rest > 0 ? element("p", { class: "note" }, `And ${whole(rest)} more, which the page does not hold.`) : null,
  );
}

function lawCell(pair, stage, side, at) {
  const law = pair.rankings[side][stage][at];
  if (law === undefined) return element("td");
  const expected = pair.groups.some((group) => expectedOn(group, side) && group.laws.includes(law));
  const accepted = !expected && pair.accepted.includes(law);
  const mark = expected ? "✓ " : accepted ? "○ " : "";
  const cosine = STAGES[stage] === "near" && at < pair.cosines[side].length ? ` ${(pair.cosines[side][at] / COSINE_STEPS - 2).toFixed(4)}` : "";
  const text = SIDES[side].texts ? pair.laws.texts[law] : "";
  return element(
    "td",
    { class: expected ? "expected" : accepted ? "accepted" : "" },
    mark,
    element("b", {}, said(pair.laws.ids[law])),
    cosine,
    element("span", { class: "way" }, moveSaid(pair, stage, side, at)),
    text ? element("span", { class: "law" }, said(text)) : null,
  );
}

// How a law moved between the sides: up or down by so many places, new or gone.
function moveSaid(pair, stage, side, at) {
  if (!two || pair.sides.includes(null) || !hasRun(pair, 1 - side, stage)) return "";
  const other = pair.rankings[1 - side][stage].indexOf(pair.rankings[side][stage][at]);
  if (other < 0) return pair.lengths[1 - side][stage] - 1 > data.depth ? "" : side ? " new" : " gone";
  if (!side || other === at) return "";
  return at < other ? ` ↑${other - at}` : ` ↓${at - other}`;
}
