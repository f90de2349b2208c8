// What the page shows now: the setting, the filters, the list's order.

const SLIDERS = ["near_enough", "near_laws", "retrieved_laws", "candidate_laws", "searched_candidate_laws"];
const FILTERS = ["state", "kind", "language", "tag", "topic"];
const LISTED = ["all", "lost here", "lost by the change", "gained by the change", "expect nothing"];
const SORTS = ["question", "state", "kind", "cosine", "place"];

const defaults = { stage: "pool", state: "", kind: "", language: "", tag: "", topic: "" };
Object.assign(defaults, { list: "all", sort: "question", search: "", open: "", at: "" });

const view = { setting: { ...inForce }, ...defaults };

const OPTIONS = {
  state: Object.keys(data.states),
  kind: data.kinds,
  language: data.languages,
  tag: data.tags,
  topic: data.topics,
  stage: STAGES,
  list: LISTED,
  sort: SORTS.flatMap((name) => [name, `-${name}`]),
};

const LIMITS = {
  near_laws: [0, data.depths.near_laws],
  retrieved_laws: [1, data.depths.laws],
  candidate_laws: [1, data.depths.laws],
  searched_candidate_laws: [1, data.depths.laws],
};

// The place of the cutoff nearest to a number.
function nearestCutoff(value) {
  let low = 0;
  let high = cutoffs.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (cutoffs[middle] <= value) low = middle;
    else high = middle;
  }
  return value - cutoffs[low] <= cutoffs[high] - value ? low : high;
}

function setNumber(name, value) {
  if (!Number.isFinite(value)) return;
  if (name === "near_enough") view.setting.cutoff = nearestCutoff(value);
  else {
    const [least, most] = LIMITS[name];
    view.setting[name] = Math.min(most, Math.max(least, Math.round(value)));
  }
}

const numberOf = (name, setting) => (name === "near_enough" ? cutoffs[setting.cutoff] : setting[name]);
const changedNames = () => SLIDERS.filter((name) => numberOf(name, view.setting) !== numberOf(name, inForce));

function readAddress() {
  Object.assign(view, defaults, { setting: { ...inForce } });
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    if (SLIDERS.includes(name) && value.trim()) setNumber(name, Number(value));
    else readChoice(name, value);
  }
}

function address() {
  const numbers = changedNames().map((name) => [name, numberOf(name, view.setting)]);
  return `#${new URLSearchParams([...numbers, ...changedChoices()])}`;
}

const inFilter = (pair) =>
  (!view.state || pair.state === view.state) &&
  (!view.kind || pair.kind === view.kind) &&
  (!view.language || pair.language === view.language) &&
  (!view.topic || pair.topic === view.topic) &&
  (!view.tag || pair.tags.includes(view.tag));
