// The question list at the explorer's position.

// A pair's worst place in the pool and its least cosine over its groups, for sorting; null where there is none.
function worstCosine(pair) {
  if (!pair.groups.length) {
    const at = rankings.nearStarts[pair.texts[0]];
    return rankings.nearCounts[pair.texts[0]] ? rankings.levels[at] : 0;
  }
  return Math.min(...pair.groups.map((_, nth) => fates.levels[pair.firstGroup + nth]));
}

function worstPlace(pair) {
  if (!pair.groups.length) return null;
  fuseStage(pair, "pool", view.setting);
  const places = pair.groups.map((group) => Math.min(...group.map(placeInFusion)));
  const worst = Math.max(...places);
  return Number.isFinite(worst) ? worst : null;
}

const placeInFusion = (law) => (wasFound(law) ? lawsBefore(law) + 1 : Infinity);

const SORTED = {
  question: (pair) => pair.text.toLowerCase(),
  state: (pair) => pair.state,
  kind: (pair) => pair.kind,
  cosine: worstCosine,
  place: (pair) => worstPlace(pair) ?? Infinity,
};

function listed() {
  const words = wordsSought();
  const changes = { "lost by the change": shown.lost, "gained by the change": shown.gained }[view.list];
  const changedPairs = changes && new Set(changes.map(({ pair }) => pair));
  const bits = shown.here[view.stage].bits;
  const found = pairs.filter((pair) => {
    if (!inFilter(pair)) return false;
    if (changedPairs && !changedPairs.has(pair)) return false;
    if (view.list === "expect nothing" && pair.groups.length) return false;
    if (view.list === "lost here" && !pair.groups.some((_, nth) => !bits[pair.firstGroup + nth])) return false;
    return matches(pair, words);
  });
  return sorted(found);
}

const reachedBy = (pair, stage) => pair.groups.filter((_, nth) => shown.here[stage].bits[pair.firstGroup + nth]).length;

function reachedText(pair, stage) {
  if (!pair.groups.length) return MISSING;
  const reached = reachedBy(pair, stage);
  return `${reached === pair.groups.length ? "✓" : "✗"} ${reached} of ${pair.groups.length}`;
}

function questionsSaved() {
  const head = ["question", "state", "kind", "text", "expects", "expected", "cosine", ...STAGES.map((stage) => `reached by ${stage}`), "place"];
  const rows = listed().map((pair) => [
    pair.id,
    pair.state,
    pair.kind,
    pair.text,
    pair.unrelated ?? pair.expects,
    pair.groups.map((group) => lawsOf(pair, group)).join("; "),
    cosineOf(worstCosine(pair)),
    ...STAGES.map((stage) => (pair.groups.length ? reachedBy(pair, stage) : null)),
    worstPlace(pair),
  ]);
  return [head, ...rows];
}

function questionRow(pair) {
  const place = worstPlace(pair);
  return element(
    "tr",
    {},
    element(
      "th",
      { scope: "row" },
      questionButton(pair),
      element("span", { class: "meta" }, said(pair.id)),
    ),
    element("td", {}, said(pair.state)),
    element("td", {}, pair.groups.length ? pair.kind : `${pair.kind}, ${pair.unrelated ?? pair.expects}`),
    element("td", { class: "number" }, cosineText(worstCosine(pair))),
    STAGES.map((stage) => element("td", { class: "number" }, reachedText(pair, stage))),
    element("td", { class: "number" }, place === null ? MISSING : String(place)),
  );
}

