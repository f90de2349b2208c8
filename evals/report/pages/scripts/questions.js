// The question list.

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
  const words = view.search.toLowerCase().split(/\s+/).filter(Boolean);
  const changes = { "lost by the change": shown.lost, "gained by the change": shown.gained }[view.list];
  const changedPairs = changes && new Set(changes.map(({ pair }) => pair));
  const bits = shown.here[view.stage].bits;
  return pairs.filter((pair) => {
    if (!inFilter(pair)) return false;
    if (changedPairs && !changedPairs.has(pair)) return false;
    if (view.list === "expect nothing" && pair.groups.length) return false;
    if (view.list === "lost here" && !pair.groups.some((_, nth) => !bits[pair.firstGroup + nth])) return false;
    return matches(pair, words);
  });
}

function matches(pair, words) {
  if (!words.length) return true;
  const laws = pair.groups.map((group) => lawsOf(pair, group)).join(" ");
  const text = `${pair.text} ${pair.id} ${pair.state} ${laws}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function sorted(found) {
  const falling = view.sort.startsWith("-");
  const key = SORTED[view.sort.replace("-", "")];
  const keyed = found.map((pair) => [key(pair), pair]);
  const sign = falling ? -1 : 1;
  keyed.sort(([a, first], [b, second]) => (a < b ? -sign : a > b ? sign : first.index - second.index));
  return keyed.map(([, pair]) => pair);
}

function updateQuestions() {
  const found = sorted(listed());
  byId("question-count").textContent = `${plural(found.length, "question")} of ${whole(pairs.length)}`;
  byId("question-more").replaceChildren(inParts(byId("question-rows"), found, questionRow, 50));
  for (const button of document.querySelectorAll("[data-sort]")) {
    const name = button.dataset.sort;
    const order = view.sort === name ? "ascending" : view.sort === `-${name}` ? "descending" : "none";
    button.closest("th").setAttribute("aria-sort", order);
  }
  if (byId("search").value !== view.search) byId("search").value = view.search;
  byId("list").value = view.list;
}

const reachedBy = (pair, stage) => pair.groups.filter((_, nth) => shown.here[stage].bits[pair.firstGroup + nth]).length;

function reachedText(pair, stage) {
  if (!pair.groups.length) return MISSING;
  const reached = reachedBy(pair, stage);
  return `${reached === pair.groups.length ? "✓" : "✗"} ${reached} of ${pair.groups.length}`;
}

function questionsSaved() {
  const head = ["question", "state", "kind", "text", "expects", "expected", "cosine", ...STAGES.map((stage) => `reached by ${stage}`), "place"];
  const rows = sorted(listed()).map((pair) => [
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
      element("button", { type: "button", class: "question", click: () => openTrace(pair) }, said(pair.text)),
      element("span", { class: "meta" }, said(pair.id)),
    ),
    element("td", {}, said(pair.state)),
    element("td", {}, pair.groups.length ? pair.kind : `${pair.kind}, ${pair.unrelated ?? pair.expects}`),
    element("td", { class: "number" }, cosineText(worstCosine(pair))),
    STAGES.map((stage) => element("td", { class: "number" }, reachedText(pair, stage))),
    element("td", { class: "number" }, place === null ? MISSING : String(place)),
  );
}

function wireQuestions() {
  for (const option of LISTED) byId("list").append(element("option", { value: option }, option));
  byId("list").addEventListener("change", (event) => {
    view.list = event.target.value;
    changed();
  });
  byId("search").addEventListener("input", (event) => {
    view.search = event.target.value;
    changed();
  });
  for (const button of document.querySelectorAll("[data-sort]")) {
    button.addEventListener("click", () => {
      view.sort = view.sort === button.dataset.sort ? `-${button.dataset.sort}` : button.dataset.sort;
      changed();
    });
  }
  byId("save-questions").append(saveButton("questions", questionsSaved));
  byId("trace").addEventListener("close", () => {
    view.open = "";
    writeAddress();
  });
}
