// The question list of one side or both.

const placeStage = () => STAGES.indexOf(view.stage === ANY ? POOL : view.stage);

// A pair's worst place at a stage and its least cosine on a side, over its groups; null where there is none.
function worstPlace(pair, side, stage) {
  const places = pair.groups.map((group) => group.places[side][stage]);
  return places.length && places.every((place) => place > NOT_RETURNED) ? Math.max(...places) - 1 : null;
}

function leastCosine(pair, side) {
  const cosines = pair.groups.length ? pair.groups.map((group) => group.cosines[side]) : [pair.sides[side]?.cosine ?? null];
  return cosines.includes(null) ? null : Math.min(...cosines);
}

const heldBy = (pair) => (pair.sides[last] ? last : 0);

const SORTED = {
  question: (pair) => pair.text.toLowerCase(),
  state: (pair) => pair.state,
  kind: (pair) => pair.kind,
  cosine: (pair) => leastCosine(pair, heldBy(pair)) ?? -2,
  place: (pair) => worstPlace(pair, heldBy(pair), placeStage()) ?? Infinity,
};

// Whether a group that a side expects is missed by the stage looked at; where that is any, by the pool.
function misses(pair, side) {
  return pair.sides[side] && pair.groups.some((group) => expectedOn(group, side) && !reached(group, side, placeStage()));
}

const IN_LIST = {
  all: () => true,
  "lost or gained": (pair) => flipsOf(pair, view.stage).length,
  lost: (pair) => flipsOf(pair, view.stage).includes("lost"),
  gained: (pair) => flipsOf(pair, view.stage).includes("gained"),
  "other laws returned": (pair) => stagesOf(view.stage).some((stage) => (pair.changed >> stage) & 1),
  "missed on both sides": (pair) => misses(pair, 0) && misses(pair, last),
  missed: (pair) => misses(pair, last),
  reached: (pair) => pair.groups.length && !misses(pair, last),
  "expect nothing": (pair) => !pair.groups.length,
  "only before": (pair) => !pair.sides[last],
  "only now": (pair) => !pair.sides[0],
};

function listed() {
  const words = wordsSought();
  return sorted(pairs.filter((pair) => inFilter(pair) && IN_LIST[view.list](pair) && matches(pair, words)));
}

function updateQuestions() {
  showListing(listed());
  byId("place-head").textContent = `place by ${STAGES[placeStage()]}`;
  for (const name of [...FILTERS, "stage"]) byId(name).value = view[name];
}

function questionRow(pair) {
  const kind = pair.groups.length ? pair.kind : `${pair.kind}, ${pair.expects}`;
  return element(
    "tr",
    {},
    element(
      "th",
      { scope: "row" },
      questionButton(pair),
      element("span", { class: "meta" }, said(pair.id), only(pair), element("span", { class: "about" }, said(`, ${pair.state}, ${kind}`))),
    ),
    element("td", {}, said(pair.state)),
    element("td", {}, said(kind)),
    STAGES.map((_, stage) => stageCell(pair, stage)),
    element("td", { class: "number" }, beforeAndNow(SIDES.map((_, side) => cosineSaid(leastCosine(pair, side))), pair)),
    element("td", { class: "number" }, beforeAndNow(SIDES.map((_, side) => worstPlace(pair, side, placeStage()) ?? MISSING), pair)),
  );
}

const only = (pair) => (pair.sides.includes(null) ? `, asked only ${pair.sides[0] ? "before" : "now"}` : "");

// One value where both sides have the same or one alone has the pair, else both.
function beforeAndNow(values, pair) {
  const there = values.filter((_, side) => pair.sides[side]);
  return [...new Set(there.map(String))].join(" → ");
}

function stageCell(pair, stage) {
  const flips = [...new Set(pair.groups.map((group) => flipOf(pair, group, stage)).filter(Boolean))];
  const kind = flips.length === 1 ? flips[0] : "";
  const text = beforeAndNow(SIDES.map((_, side) => stageSaid(pair, side, stage)), pair);
  return element("td", { class: kind, "data-flips": flips.join(" ") }, text, flips.length ? element("span", { class: "unseen" }, ` ${flips.join(" and ")}`) : null);
}

// The groups that a stage reached of those a side expects; where it expects none, how many laws came back.
function stageSaid(pair, side, stage) {
  if (!hasRun(pair, side, stage)) return "not run";
  const groups = pair.groups.filter((group) => expectedOn(group, side));
  if (!groups.length) return plural(pair.lengths[side][stage] - 1, "law");
  const found = groups.filter((group) => reached(group, side, stage)).length;
  const mark = found === groups.length ? "✓" : "✗";
  return groups.length === 1 ? mark : `${mark} ${found} of ${groups.length}`;
}

function wireQuestions() {
  const head = (name, text, number) =>
    element("th", { scope: "col", class: number ? "number" : "" }, element("button", { type: "button", "data-sort": name }, text));
  const place = head("place", "place", true);
  place.querySelector("button").id = "place-head";
  byId("question-head").replaceChildren(
    head("question", "question"),
    head("state", "state"),
    head("kind", "kind"),
    ...STAGES.map((stage) => element("th", { scope: "col" }, stage)),
    head("cosine", "cosine", true),
    place,
  );
  for (const name of [...FILTERS, "stage"]) wireChoice(name);
  wireListing();
  byId("reset").addEventListener("click", () => {
    Object.assign(view, defaults);
    changed();
  });
  for (const link of document.querySelectorAll("[data-open]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      openTrace(pairs.find((pair) => pair.key === link.dataset.open));
    });
  }
}
