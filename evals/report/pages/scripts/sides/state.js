// What the page shows now: the filters, the list's order, the open question.

const FILTERS = ["state", "kind", "language"];
const ANY = "any stage";
const compared = data.compared;
const POOL = compared.includes("pool") ? "pool" : compared.at(-1);

const LISTED = two
  ? ["lost or gained", "lost", "gained", "other laws returned", "missed on both sides", "expect nothing", "only before", "only now", "all"]
  : ["missed", "reached", "expect nothing", "all"];
const SORTS = ["question", "state", "kind", "cosine", "place"];

const stagesOf = (name) => (name === ANY ? compared : [name]).map((stage) => STAGES.indexOf(stage));
const flipsOf = (pair, name) => pair.groups.flatMap((group) => stagesOf(name).map((stage) => flipOf(pair, group, stage))).filter(Boolean);

const defaults = { state: "", kind: "", language: "", search: "", sort: "question", open: "", at: "" };
defaults.stage = two ? ANY : POOL;
defaults.list = two && !pairs.some((pair) => flipsOf(pair, ANY).length) ? "all" : LISTED[0];

const view = { ...defaults };

const each = (name) => [...new Set(pairs.map((pair) => pair[name]))].sort();
const OPTIONS = {
  state: each("state"),
  kind: each("kind"),
  language: each("language"),
  stage: two ? [ANY, ...compared] : compared,
  list: LISTED,
  sort: SORTS.flatMap((name) => [name, `-${name}`]),
};

function readAddress() {
  Object.assign(view, defaults);
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) readChoice(name, value);
}

const address = () => `#${new URLSearchParams(changedChoices())}`;

const inFilter = (pair) => FILTERS.every((name) => !view[name] || pair[name] === view[name]);
