// One question's whole trace: where each expected law went, what would have saved it, and every stage's ranking.

function traceParts(pair) {
  const about = `${pair.id}, asked in ${pair.state}; ${pair.kind}, ${pair.language}, ${pair.topic}`;
  const tags = pair.tags.length ? `; ${pair.tags.join(", ")}` : "";
  const setting = SLIDERS.filter((name) => byId(name)).map((name) => `${name} ${numberOf(name, view.setting)}`);
  return [
    element("p", { class: "meta" }, said(`${about}${tags}`)),
    element("p", { class: "meta" }, `Shown at ${setting.join(", ")}.`),
    ...searchesSaid(pair),
    pair.groups.length
      ? element("ul", { class: "fates" }, pair.groups.map((group, nth) => fate(pair, group, nth)))
      : element("p", {}, nothingExpected(pair)),
    ...answerSaid(pair),
    lawTable(pair),
  ];
}

// The searches that are fused beside the question, by the numbers that the table's columns have.
function searchesSaid(pair) {
  const texts = pair.texts.slice(1).map((text) => data.searches.texts[searchOf[text] - 1]);
  if (!texts.length) return [];
  return [element("p", { class: "meta" }, "Fused beside it: ", texts.flatMap((text, at) => [at ? "; " : "", `search ${at + 1}, `, said(text)]))];
}

// What the reranker chose from the pool of the settings in force: it cannot be asked about another pool here.
function answerSaid(pair) {
  if (!data.answers.length) return [];
  const [outcome, laws] = data.answers[pair.index];
  const named = laws.map(([law, score]) => `${pair.laws.ids[law]}${score === null ? "" : ` (${score})`}`).join(", ");
  const how = { ranked: "chose", "none named": "named no law of the pool, so its first stand", "empty pool": "had an empty pool" }[outcome];
  const told = how ?? `did not answer (${outcome}), and the fused result stands`;
  return [element("p", {}, `At the settings in force the reranker, ${data.settings.rerank}, ${told}: `, said(named || "no law"), ".")];
}

function nothingExpected(pair) {
  const depth = nearDepth(pair.texts[0], view.setting.cutoff, view.setting.near_laws);
  const why = pair.unrelated ? `an unrelated question (${pair.unrelated})` : "a question whose law the corpus lacks";
  return `No law is expected: ${why}. The near search returns ${plural(depth, "law")} to it.`;
}

// Where an expected group went: at each search, in fusion, and what would have saved it.
function fate(pair, group, nth) {
  const bits = STAGES.map((stage) => shown.here[stage].bits[pair.firstGroup + nth]);
  const arrived = STAGES.filter((_, at) => bits[at]);
  const lines = [wordFate(pair, group, nth), nearFate(pair, nth), fusionFate(pair, group)];
  const law = pair.laws.laws[group[0]] ?? "";
  return element(
    "li",
    { class: bits[2] ? "reached" : "lost" },
    element("p", {}, element("strong", {}, bits[2] ? "✓ In the pool: " : "✗ Not in the pool: "), said(lawsOf(pair, group)), " ", said(law)),
    element("p", {}, `${lines.join("; ")}. Returned by: ${arrived.length ? arrived.join(", ") : "no stage"}.`),
    bits[2] ? null : element("p", {}, saviours(pair, nth)),
  );
}

function wordFate(pair, group, nth) {
  const place = fates.wordPlaces[pair.firstGroup + nth];
  const asked = limitOf(pair, "pool", view.setting);
  if (!place) return group.every((law) => pair.laws.pageRows.includes(law)) ? "a page row, which words never reach" : "no shared word";
  return `${ordinal(place)} by words, where ${asked} are asked for`;
}

function nearFate(pair, nth) {
  const at = pair.firstGroup + nth;
  const place = fates.nearPlaces[at];
  if (!place) return "no vector";
  const under = fates.levels[at] <= view.setting.cutoff ? `under ${cutoffText(view.setting.cutoff)}, ` : "";
  const most = under ? "" : `, where at most ${view.setting.near_laws} come back`;
  return `cosine ${cosineText(fates.levels[at])}, ${under}${ordinal(place)} by meaning${most}`;
}

function fusionFate(pair, group) {
  fuseStage(pair, "pool", view.setting);
  const place = Math.min(...group.map(placeInFusion));
  return Number.isFinite(place) ? `fused to ${ordinal(place)} of ${fusion.limit}` : "in no ranking";
}

// The nearest change of one setting that would bring a group into the pool: each one tried, none assumed.
function saviours(pair, nth) {
  const found = [];
  const reaches = (setting) => {
    const bits = new Uint8Array(fates.levels.length);
    evaluate(pair, "pool", setting, bits);
    return bits[pair.firstGroup + nth];
  };
  for (const name of ["near_enough", "near_laws", poolSetting(pair)]) {
    const saved = nearestSaving(pair, name, reaches);
    if (saved !== null) found.push(`${name} ${saved}`);
  }
  if (found.length) return `Alone, this would have saved it: ${found.join(", or ")}.`;
  return `No change of one setting within ${data.depths.near_laws} near laws and a pool of ${data.depths.laws} would have saved it.`;
}

function nearestSaving(pair, name, reaches) {
  const inSetting = name === "near_enough" ? "cutoff" : name;
  const now = view.setting[inSetting];
  const values = name === "near_enough" ? turningPoints(pair) : range(...LIMITS[name]);
  values.sort((a, b) => Math.abs(a - now) - Math.abs(b - now));
  const value = values.find((each) => reaches({ ...view.setting, [inSetting]: each }));
  if (value === undefined) return null;
  return name === "near_enough" ? cutoffText(value) : value;
}

const range = (low, high) => Array.from({ length: high - low + 1 }, (_, at) => low + at);

// The cutoffs at which one of a pair's near laws is just let in, or just not.
function turningPoints(pair) {
  const levels = pair.texts.flatMap((text) => {
    const start = rankings.nearStarts[text];
    return [...rankings.levels.subarray(start, start + rankings.nearCounts[text])];
  });
  return [...new Set(levels.flatMap((level) => [level - 1, level]))].filter((at) => at >= 0 && at < cutoffs.length);
}

// Every law of the pool and of the searches' beginnings, with its place and score at each.
function lawTable(pair) {
  const rows = traceRows(pair);
  const searched = pair.texts.slice(1).flatMap((_, at) => [`search ${at + 1} by words`, "score", "by meaning", "cosine"]);
  const head = ["law", "pool", `fused ${view.setting.retrieved_laws}`, "by words", "score", "by meaning", "cosine", ...searched];
  return element(
    "div",
    { class: "wide", tabindex: "0", role: "region", "aria-label": "The laws of every stage" },
    element(
      "table",
      {},
      element("caption", {}, element("span", {}, "Every stage's ranking. ✓ expected, ○ accepted, ✂ under the cutoff or beyond near_laws.", saveButton("trace", () => [head, ...rows.map((row) => rowSaved(pair, row))]))),
      element("thead", {}, element("tr", {}, head.map((name, at) => element("th", { scope: "col", class: at ? "number" : "" }, name)))),
      element("tbody", {}, rows.map((row) => lawRow(pair, row))),
    ),
  );
}

const NEAR_SHOWN = 8;

function traceRows(pair) {
  fuseStage(pair, "fused", view.setting);
  const fused = new Map(fusedOrder().slice(0, fusion.limit).map((law, at) => [law, at + 1]));
  fuseStage(pair, "pool", view.setting);
  const pool = fusedOrder();
  const places = new Map(pool.slice(0, fusion.limit).map((law, at) => [law, at + 1]));
  const searches = pair.texts.map(searchPlaces);
  const firstNear = [...searches[0][1].keys()].slice(0, Math.max(NEAR_SHOWN, view.setting.near_laws));
  const rest = [...pool.slice(fusion.limit), ...firstNear, ...pair.family, ...pair.groups.flat()];
  const laws = [...new Set([...places.keys(), ...fused.keys(), ...rest])];
  return laws.map((law) => ({
    law,
    pool: places.get(law),
    fused: fused.get(law),
    searches: searches.map(([words, near]) => ({ words: words.get(law), near: near.get(law) })),
  }));
}

// A text's rankings by law: place and score; the word scores of the first few laws alone are in the page.
function searchPlaces(text) {
  const words = new Map();
  const near = new Map();
  const [wordStart, nearStart] = [rankings.wordStarts[text], rankings.nearStarts[text]];
  for (let at = 0; at < rankings.wordCounts[text]; at++) {
    const score = at < data.wordScores ? rankings.wordScores[rankings.scoreStarts[text] + at] / 100 : null;
    words.set(rankings.words[wordStart + at], { place: at + 1, score });
  }
  for (let at = 0; at < rankings.nearCounts[text]; at++) {
    near.set(rankings.near[nearStart + at], { place: at + 1, level: rankings.levels[nearStart + at] });
  }
  return [words, near];
}

const isCut = (near) => near.level <= view.setting.cutoff || near.place > view.setting.near_laws;

function rowSaved(pair, { law, pool, fused, searches }) {
  const places = searches.flatMap(({ words, near }) => [words?.place, words?.score, near?.place, near && cosineOf(near.level)]);
  return [pair.laws.ids[law], pool, fused, ...places];
}

function lawRow(pair, row) {
  const { law } = row;
  const mark = pair.groups.some((group) => group.includes(law)) ? "✓" : pair.accepted.includes(law) ? "○" : "";
  const number = (text) => element("td", { class: "number" }, text ?? "");
  const card = pair.laws.cards[law];
  return element(
    "tr",
    { class: mark === "✓" ? "expected" : mark ? "accepted" : row.pool ? "" : "outside" },
    element("th", { scope: "row" }, `${mark} `, said(pair.laws.ids[law]), " ", said(pair.laws.laws[law]), card ? [" ", element("i", {}, said(card))] : null),
    number(row.pool),
    number(row.fused),
    row.searches.flatMap(({ words, near }) => [
      number(words?.place),
      number(words?.score == null ? "" : words.score.toFixed(2)),
      number(near ? `${near.place}${isCut(near) ? " ✂" : ""}` : ""),
      number(near ? cosineText(near.level) : ""),
    ]),
  );
}
