// What fusion returns at any setting, and means of it: the pipeline's and evals.sweep's figures, to the last digit.
//
// A setting holds `cutoff` (a place in `cutoffs`), `near_laws`, `retrieved_laws`, `candidate_laws` and
// `searched_candidate_laws`. Stages: near (the question's near ranking, cut), fused (`retrieved_laws`), pool.

const RANK_CONSTANT = 60;
const STAGES = ["near", "fused", "pool"];

const inForce = {
  cutoff: cutoffs.indexOf(data.cutoff),
  near_laws: data.settings.near_laws,
  retrieved_laws: data.settings.retrieved_laws,
  candidate_laws: data.settings.candidate_laws,
  searched_candidate_laws: data.settings.searched_candidate_laws,
};

const deepest = Math.max(data.depths.laws, data.depths.near_laws);
const reciprocals = Float64Array.from({ length: deepest + 1 }, (_, rank) => 1 / (RANK_CONSTANT + rank));
const mostLaws = Math.max(0, ...Object.values(data.states).map((state) => state.ids.length));

// One fusion at a time: laws by position, with their score and when they were found. `turn` saves clearing.
const fusion = {
  score: new Float64Array(mostLaws),
  place: new Uint32Array(mostLaws),
  seen: new Uint32Array(mostLaws),
  found: new Uint32Array(mostLaws),
  count: 0,
  limit: 0,
  turn: 0,
};

function beginFusion(limit) {
  fusion.turn += 1;
  fusion.count = 0;
  fusion.limit = limit;
}

function addRanking(laws, start, count) {
  const { score, place, seen, found, turn } = fusion;
  for (let rank = 1; rank <= count; rank++) {
    const law = laws[start + rank - 1];
    if (seen[law] !== turn) {
      seen[law] = turn;
      score[law] = 0;
      place[law] = fusion.count;
      found[fusion.count++] = law;
    }
    score[law] += reciprocals[rank];
  }
}

// How many laws of a text's near ranking take part.
function nearDepth(text, cutoff, nearLaws) {
  const start = rankings.nearStarts[text];
  const most = Math.min(nearLaws, rankings.nearCounts[text]);
  let depth = 0;
  while (depth < most && rankings.levels[start + depth] > cutoff) depth++;
  return depth;
}

const poolSetting = (pair) => (pair.texts.length > 1 ? "searched_candidate_laws" : "candidate_laws");
const limitOf = (pair, stage, setting) => setting[stage === "fused" ? "retrieved_laws" : poolSetting(pair)];

function fuseStage(pair, stage, setting) {
  if (stage === "near") {
    const depth = nearDepth(pair.texts[0], setting.cutoff, setting.near_laws);
    beginFusion(depth);
    addRanking(rankings.near, rankings.nearStarts[pair.texts[0]], depth);
    return;
  }
  const limit = limitOf(pair, stage, setting);
  beginFusion(limit);
  for (const text of pair.texts) {
    addRanking(rankings.words, rankings.wordStarts[text], Math.min(limit, rankings.wordCounts[text]));
    addRanking(rankings.near, rankings.nearStarts[text], nearDepth(text, setting.cutoff, setting.near_laws));
  }
}

// How many laws come before one: a greater score, or the same and an earlier place.
function lawsBefore(law) {
  const { score, place, found, count } = fusion;
  const mine = score[law];
  const nth = place[law];
  let before = 0;
  for (let at = 0; at < count; at++) {
    const other = score[found[at]];
    if (other > mine || (other === mine && place[found[at]] < nth)) before++;
  }
  return before;
}

const wasFound = (law) => fusion.seen[law] === fusion.turn;

function isReturned(law) {
  return wasFound(law) && (fusion.count <= fusion.limit || lawsBefore(law) < fusion.limit);
}

// The laws of the last fusion in its order, beyond the limit too.
function fusedOrder() {
  const order = [...fusion.found.subarray(0, fusion.count)];
  return order.sort((a, b) => fusion.score[b] - fusion.score[a]);
}

// What one pair gets, in one number: laws returned, relevant ones among them, groups reached (their bits into `bits`).
const mostTargets = pairs.reduce((most, pair) => Math.max(most, pair.targets.length, pair.groups.length), 0) + 1;
const lawsIn = (got) => Math.floor(got / mostTargets ** 2);
const relevantIn = (got) => Math.floor(got / mostTargets) % mostTargets;
const reachedIn = (got) => got % mostTargets;

// Which of a pair's targets came back.
const given = new Uint8Array(mostTargets);

function evaluate(pair, stage, setting, bits) {
  fuseStage(pair, stage, setting);
  for (let at = 0; at < pair.targets.length; at++) given[at] = isReturned(pair.targets[at]) ? 1 : 0;
  return tally(pair, stage, bits);
}

function tally(pair, stage, bits) {
  let laws = Math.min(fusion.count, fusion.limit);
  if (stage !== "near") {
    for (const at of pair.beside) {
      if (!given[at]) laws++;
      given[at] = 1;
    }
  }
  let relevant = 0;
  for (let at = 0; at < pair.relevant.length; at++) relevant += given[at];
  return (laws * mostTargets + relevant) * mostTargets + groupsReached(pair, bits);
}

function groupsReached(pair, bits) {
  let reached = 0;
  for (let nth = 0; nth < pair.members.length; nth++) {
    const members = pair.members[nth];
    let hit = 0;
    for (let at = 0; at < members.length && !hit; at++) hit = given[members[at]];
    if (bits) bits[pair.firstGroup + nth] = hit;
    reached += hit;
  }
  return reached;
}

// A sum of floats without rounding, as math.fsum's: each is parted into a multiple of 2^-24 and the rest, and sums of
// either part are exact.
class ExactSum {
  high = 0;
  low = 0;

  add(value) {
    const high = Math.round(value * 2 ** 24) / 2 ** 24;
    this.high += high;
    this.low += value - high;
  }

  get value() {
    return this.high + this.low;
  }
}

class Means {
  recall = new ExactSum();
  precision = new ExactSum();
  laws = 0;
  pairs = 0;
  answered = 0;

  add(pair, got) {
    const laws = lawsIn(got);
    this.pairs++;
    this.recall.add(reachedIn(got) / pair.groups.length);
    this.laws += laws;
    if (laws) {
      this.answered++;
      this.precision.add(relevantIn(got) / laws);
    }
  }

  // Missing is null, never 0.
  get figures() {
    return {
      pairs: this.pairs,
      recall: this.pairs ? this.recall.value / this.pairs : null,
      precision: this.answered ? this.precision.value / this.answered : null,
      laws: this.pairs ? this.laws / this.pairs : null,
    };
  }
}

// Every answerable pair at a stage and setting: what each got, and which groups were reached.
function measure(stage, setting) {
  const bits = new Uint8Array(fates.levels.length);
  const gots = new Float64Array(pairs.length);
  for (const pair of answerable) gots[pair.index] = evaluate(pair, stage, setting, bits);
  return { bits, gots };
}

function meansOf(measured, chosen) {
  const means = new Means();
  for (const pair of chosen) means.add(pair, measured.gots[pair.index]);
  return means.figures;
}

// The near search where no law is expected: the share that got nothing, and the mean number of laws.
function silence(chosen, setting) {
  if (!chosen.length) return null;
  let silent = 0;
  let laws = 0;
  for (const pair of chosen) {
    const depth = nearDepth(pair.texts[0], setting.cutoff, setting.near_laws);
    if (!depth) silent++;
    laws += depth;
  }
  return { silent: silent / chosen.length, laws: laws / chosen.length };
}
