// The explorer: sliders and filters in, figures, lists and the line to copy out.

const shown = { before: null, here: null, chosen: [], silent: [], lost: [], gained: [] };
const CURVE_POINTS = 100;

const lawsOf = (pair, group) => group.map((law) => pair.laws.ids[law]).join(" or ");

function measureAll(setting) {
  return Object.fromEntries(STAGES.map((stage) => [stage, measure(stage, setting)]));
}

// Groups that one measurement reached and the other did not: [{pair, group}].
function changedGroups(chosen, from, to) {
  return chosen.flatMap((pair) =>
    pair.groups
      .map((group, nth) => ({ pair, group, bit: pair.firstGroup + nth }))
      .filter(({ bit }) => from.bits[bit] > to.bits[bit]),
  );
}

function updateFigures() {
  shown.before ??= measureAll(inForce);
  shown.here = measureAll(view.setting);
  shown.chosen = answerable.filter(inFilter);
  shown.silent = unanswerable.filter(inFilter);
  const before = shown.before[view.stage];
  const here = shown.here[view.stage];
  shown.lost = changedGroups(shown.chosen, before, here);
  shown.gained = changedGroups(shown.chosen, here, before);
  byId("stages-body").replaceChildren(...STAGES.map(stageRow));
  byId("kinds-body").replaceChildren(...data.kinds.filter((kind) => shown.chosen.some((pair) => pair.kind === kind)).map(kindRow));
  byId("silence").replaceChildren(...silenceText());
}

const cell = (text, value) => element("td", { class: "number", "data-value": value === null ? "" : String(value) }, text);

function comparedCells(here, before, name, show, digits) {
  return [cell(show(before[name]), before[name]), cell(show(here[name]), here[name]), cell(difference(here[name], before[name], digits), null)];
}

function stageRow(stage) {
  const before = meansOf(shown.before[stage], shown.chosen);
  const here = meansOf(shown.here[stage], shown.chosen);
  const judged = stage === view.stage;
  return element(
    "tr",
    { "data-stage": stage, class: judged ? "judged" : "" },
    element("th", { scope: "row" }, stageName(stage)),
    comparedCells(here, before, "recall", share, 3),
    comparedCells(here, before, "precision", share, 3),
    comparedCells(here, before, "laws", tenths, 1),
  );
}

function stageName(stage) {
  const { near_laws, retrieved_laws, candidate_laws, searched_candidate_laws } = view.setting;
  const searched = byId("searched_candidate_laws") ? ` or ${searched_candidate_laws}` : "";
  return { near: `near, at most ${near_laws}`, fused: `fused, ${retrieved_laws}`, pool: `pool, ${candidate_laws}${searched}` }[stage];
}

function kindRow(kind) {
  const chosen = shown.chosen.filter((pair) => pair.kind === kind);
  const before = meansOf(shown.before[view.stage], chosen);
  const here = meansOf(shown.here[view.stage], chosen);
  const count = (groups) => groups.filter(({ pair }) => pair.kind === kind).length;
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, kind),
    cell(whole(here.pairs), here.pairs),
    comparedCells(here, before, "recall", share, 3),
    cell(whole(count(shown.lost)), null),
    cell(whole(count(shown.gained)), null),
  );
}

const MEASURES = ["recall", "precision", "laws"];

function stagesSaved() {
  const head = ["stage", "pairs", ...MEASURES.flatMap((name) => [`${name} in force`, `${name} here`])];
  const rows = STAGES.map((stage) => {
    const before = meansOf(shown.before[stage], shown.chosen);
    const here = meansOf(shown.here[stage], shown.chosen);
    return [stage, here.pairs, ...MEASURES.flatMap((name) => [before[name], here[name]])];
  });
  return [head, ...rows];
}

function kindsSaved() {
  const rows = data.kinds.map((kind) => {
    const chosen = shown.chosen.filter((pair) => pair.kind === kind);
    const recalls = [shown.before, shown.here].map((measured) => meansOf(measured[view.stage], chosen).recall);
    const changes = [shown.lost, shown.gained].map((groups) => groups.filter(({ pair }) => pair.kind === kind).length);
    return [kind, chosen.length, ...recalls, ...changes];
  });
  return [["kind", "pairs", "recall in force", "recall here", "lost", "gained"], ...rows.filter(([, count]) => count)];
}

function silenceText() {
  const before = silence(shown.silent, inForce);
  const here = silence(shown.silent, view.setting);
  if (!here) return ["No question here that no law answers."];
  const value = (name, show) => element("b", { "data-silence": name, "data-value": String(here[name]) }, show(here[name]));
  return [
    `Of ${plural(shown.silent.length, "question")} that no law answers, the near search returns nothing to a share of `,
    value("silent", share),
    ` (in force ${share(before.silent)}), and `,
    value("laws", tenths),
    ` laws on average (in force ${tenths(before.laws)}).`,
  ];
}

function updateStatus() {
  const here = meansOf(shown.here[view.stage], shown.chosen);
  const before = meansOf(shown.before[view.stage], shown.chosen);
  const where = FILTERS.filter((name) => view[name]).map((name) => `${name} ${view[name]}`);
  const setting = SLIDERS.filter((name) => byId(name)).map((name) => `${name} ${numberOf(name, view.setting)}`);
  byId("position").textContent = `${setting.join(", ")}${where.length ? `; only ${where.join(", ")}` : ""}`;
  byId("status").textContent = changedNames().length
    ? `Recall of ${view.stage} ${share(before.recall)} in force, ${share(here.recall)} here: ` +
      `${plural(shown.lost.length, "expected law")} lost, ${whole(shown.gained.length)} gained.`
    : `Recall of ${view.stage} ${share(here.recall)} at the settings in force. Move a slider to see what it would lose and gain.`;
}

function updateSliders() {
  for (const name of SLIDERS.filter(byId)) {
    const number = numberOf(name, view.setting);
    const slider = byId(name);
    slider.value = number;
    slider.setAttribute("aria-valuetext", String(number));
    byId(`${name}-out`).textContent = String(number);
  }
  for (const name of [...FILTERS, "stage"]) if (byId(name)) byId(name).value = view[name];
  byId("reset").disabled = !changedNames().length && !FILTERS.some((name) => view[name]);
}

function updateChange() {
  const names = Object.keys(data.settings).filter((name) => settingOf(name) !== filedSetting(name));
  byId("command").textContent = ["near-enough eval", ...names.map((name) => `--set ${quoted(`${name}=${settingOf(name)}`)}`)].join(" ");
  byId("diff").textContent = names.length ? diffLines(names).join("\n") : "No change: these are the settings in settings.yaml.";
}

// A setting at the position shown, and as the settings file has it: the run may have been given another.
const settingOf = (name) => (SLIDERS.includes(name) ? numberOf(name, view.setting) : data.settings[name]);
const filedSetting = (name) => (name === "near_enough" ? data.file.near_enough[data.settings.embedder] : data.file[name]);

// As a shell takes it.
const quoted = (text) => (/^[\w./=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

// A change of settings.yaml as a person would read it in a pull request.
function diffLines(names) {
  const lines = ["--- settings.yaml", "+++ settings.yaml"];
  for (const name of names) {
    const nested = name === "near_enough";
    const key = nested ? `  ${data.settings.embedder}` : name;
    if (nested) lines.push(" near_enough:");
    if (filedSetting(name) !== undefined) lines.push(`-${key}: ${filedSetting(name)}`);
    lines.push(`+${key}: ${settingOf(name)}`);
  }
  return lines;
}

function updateLists() {
  for (const [name, groups] of [["lost", shown.lost], ["gained", shown.gained]]) {
    byId(`${name}-count`).textContent = whole(groups.length);
    const list = byId(name);
    const more = inParts(list, groups, changeItem, 25);
    byId(`${name}-more`).replaceChildren(groups.length ? more : element("p", { class: "none" }, "None."));
  }
}

function changeItem({ pair, group }) {
  const law = pair.laws.laws[group[0]] ?? "";
  return element(
    "li",
    {},
    questionButton(pair),
    element("span", { class: "meta" }, said(`${pair.state}, ${pair.kind}: ${lawsOf(pair, group)}`), " ", said(law)),
  );
}

function updateCurves() {
  const { setting, stage } = view;
  const places = curveCutoffs();
  const depths = Array.from({ length: data.depths.near_laws + 1 }, (_, at) => at);
  const sizes = Array.from({ length: data.depths.laws }, (_, at) => at + 1);
  const names = (stage === "fused" ? ["retrieved_laws"] : ["candidate_laws", "searched_candidate_laws"]).filter(byId);
  const [overCutoff, overNear, overLaws] = curves(stage, setting, places, depths, sizes, names, shown.chosen);
  const silent = places.map((cutoff) => silence(shown.silent, { ...setting, cutoff })?.silent ?? null);
  drawCurve("curve-cutoff", "near_enough (cosine)", places.map((at) => cutoffs[at]), overCutoff, ["near_enough"], silent);
  drawCurve("curve-near", "near_laws", depths, overNear, ["near_laws"]);
  byId("curve-laws").closest("figure").hidden = stage === "near";
  if (stage !== "near") drawCurve("curve-laws", `${names.join(" = ")} (laws asked for)`, sizes, overLaws, names);
}

// Places of the cutoffs a curve is drawn at: evenly over those the slider offers.
function curveCutoffs() {
  const slider = byId("near_enough");
  const [low, high] = [Number(slider.min), Number(slider.max)];
  const all = Array.from({ length: CURVE_POINTS + 1 }, (_, at) => nearestCutoff(low + ((high - low) * at) / CURVE_POINTS));
  return [...new Set([...all, inForce.cutoff, view.setting.cutoff])].sort((a, b) => a - b);
}

// Two charts: recall, near enough to see a change; and what it costs. Each of `names` has its marks.
function drawCurve(id, label, xs, figures, names, silent = null) {
  const here = numberOf(names[0], view.setting);
  const marks = names.flatMap((name) => [
    { at: numberOf(name, inForce), dash: "before" },
    { at: numberOf(name, view.setting), dash: "here" },
  ]);
  const at = xs.indexOf(here);
  const now = (measured) => `${measured} ${share(figures[at]?.[measured] ?? null)}`;
  const line = (measured) => ({ name: measured, values: figures.map((each) => each[measured]) });
  const costs = [line("precision"), ...(silent ? [{ name: "silent", values: silent }] : [])];
  const summary = (what) => `${what} over ${label}, at ${here}`;
  chart(byId(id), { xs, lines: [line("recall")], marks, label, height: 210, summary: summary(now("recall")) });
  chart(byId(`${id}-costs`), { xs, lines: costs, marks, label, height: 150, summary: summary(now("precision")) });
}

// The curves move with the slider; where they take long, once it rests.
const SLOW = 150;
let curvesTook = 0;
let curvesLater = 0;
function moveCurves() {
  clearTimeout(curvesLater);
  const move = () => {
    const began = performance.now();
    updateCurves();
    curvesTook = performance.now() - began;
  };
  if (curvesTook < SLOW) move();
  else curvesLater = setTimeout(move, SLOW);
}

let later = 0;
function update() {
  updateFigures();
  updateSliders();
  updateStatus();
  updateChange();
  updateLists();
  moveCurves();
  showListing(listed());
  drawBands();
  clearTimeout(later);
  later = setTimeout(writeAddress, 200);
}

function filtered() {
  setBands();
  changed();
}

function wireExplorer() {
  for (const name of SLIDERS.filter(byId)) {
    byId(name).addEventListener("input", (event) => {
      setNumber(name, Number(event.target.value));
      changed();
    });
  }
  wireChoice("stage");
  for (const name of FILTERS.filter(byId)) wireChoice(name, filtered);
  byId("reset").addEventListener("click", () => {
    Object.assign(view.setting, inForce);
    for (const name of FILTERS) view[name] = "";
    filtered();
  });
  byId("copy-command").append(copyButton("Copy the command", byId("command")));
  byId("copy-diff").append(copyButton("Copy the diff", byId("diff")));
  byId("save-stages").append(saveButton("explorer-stages", stagesSaved));
  byId("save-kinds").append(saveButton("explorer-kinds", kindsSaved));
  byId("save-questions").append(saveButton("questions", questionsSaved));
}
