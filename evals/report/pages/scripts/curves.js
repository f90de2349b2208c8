// Figures along the lines through a position: every cutoff, near limit and number of laws asked for.
//
// A line's settings differ by one law of one ranking at a time. So laws are added one by one, and for each law that is
// looked for the number of laws before it is kept up to date. Questions with searches are fused anew.

const NEAR_FIRST = 2 ** 20; // a law that only the near ranking holds comes after one of the same score by words
const before = new Int32Array(mostTargets);

function beginGrowth(limit) {
  beginFusion(limit);
  before.fill(0);
}

const precedes = (score, place, law) =>
  score > fusion.score[law] || (score === fusion.score[law] && place < fusion.place[law]) ? 1 : 0;

function grow(targets, law, rank, place) {
  const { score, seen, found, turn } = fusion;
  const old = seen[law] === turn ? score[law] : 0;
  const oldPlace = fusion.place[law];
  if (!old) {
    seen[law] = turn;
    found[fusion.count++] = law;
  }
  score[law] = old + reciprocals[rank];
  fusion.place[law] = old ? Math.min(oldPlace, place) : place;
  for (let at = 0; at < targets.length; at++) {
    const target = targets[at];
    if (target === law) before[at] = lawsBefore(law);
    else if (seen[target] === turn) {
      before[at] += precedes(score[law], fusion.place[law], target) - (old ? precedes(old, oldPlace, target) : 0);
    }
  }
}

function tallyGrown(pair, limit) {
  fusion.limit = limit;
  for (let at = 0; at < pair.targets.length; at++) {
    given[at] = wasFound(pair.targets[at]) && before[at] < limit ? 1 : 0;
  }
  return tally(pair, "fused", null);
}

function growWord(pair, rank) {
  const text = pair.texts[0];
  if (rank <= rankings.wordCounts[text]) grow(pair.targets, rankings.words[rankings.wordStarts[text] + rank - 1], rank, rank);
}

function growNear(pair, rank) {
  const text = pair.texts[0];
  if (rank <= rankings.nearCounts[text]) grow(pair.targets, rankings.near[rankings.nearStarts[text] + rank - 1], rank, NEAR_FIRST + rank);
}

const byDepth = new Float64Array(data.depths.near_laws + 1);
const byLimit = new Float64Array(data.depths.laws + 1);

// What a pair of one text gets at every near depth, from 0, into `byDepth`.
function fillByDepth(pair, stage, setting) {
  if (stage === "near") {
    for (let depth = 0; depth < byDepth.length; depth++) {
      byDepth[depth] = evaluate(pair, stage, { cutoff: -1, near_laws: depth }, null);
    }
    return;
  }
  const limit = limitOf(pair, stage, setting);
  beginGrowth(limit);
  for (let rank = 1; rank <= limit; rank++) growWord(pair, rank);
  byDepth[0] = tallyGrown(pair, limit);
  for (let rank = 1; rank < byDepth.length; rank++) {
    growNear(pair, rank);
    byDepth[rank] = tallyGrown(pair, limit);
  }
}

// The same asked for every number of laws, from 1, with so many of the near ranking.
function fillByLimit(pair, depth) {
  beginGrowth(0);
  for (let rank = 1; rank <= depth; rank++) growNear(pair, rank);
  for (let limit = 1; limit < byLimit.length; limit++) {
    growWord(pair, limit);
    byLimit[limit] = tallyGrown(pair, limit);
  }
}

// Sums at each point of a line. They are drawn, so plain sums do.
class Line {
  constructor(xs) {
    this.xs = xs;
    this.recall = new Float64Array(xs.length);
    this.precision = new Float64Array(xs.length);
    this.answered = new Uint32Array(xs.length);
  }

  add(at, got, groups) {
    const laws = lawsIn(got);
    this.recall[at] += reachedIn(got) / groups;
    if (laws) {
      this.answered[at]++;
      this.precision[at] += relevantIn(got) / laws;
    }
  }

  figures(pairs) {
    return Array.from(this.recall, (sum, at) => ({
      recall: pairs ? sum / pairs : null,
      precision: this.answered[at] ? this.precision[at] / this.answered[at] : null,
    }));
  }
}

// Recall and precision over rising cutoffs (their places), over near limits and over numbers of laws asked for, the
// rest as in `setting`; `limitNames` are the settings that a number of laws stands for.
function curves(stage, setting, cutoffPlaces, nearLimits, limits, limitNames, chosen) {
  const lines = [cutoffPlaces, nearLimits, stage === "near" ? [] : limits].map((xs) => new Line(xs));
  for (const pair of chosen) {
    if (pair.texts.length > 1 && stage !== "near") addSearched(lines, pair, stage, setting, limitNames);
    else addGrown(lines, pair, stage, setting);
  }
  return lines.map((line) => line.figures(chosen.length));
}

// Fused anew only where the limit or a near depth differs from the point before.
function addSearched([overCutoff, overNear, overLimits], pair, stage, setting, limitNames) {
  const add = (line, change) => {
    let before = "";
    let got = 0;
    line.xs.forEach((x, at) => {
      const asked = { ...setting, ...change(x) };
      const now = [limitOf(pair, stage, asked), ...pair.texts.map((text) => nearDepth(text, asked.cutoff, asked.near_laws))].join();
      if (now !== before) got = evaluate(pair, stage, asked, null);
      before = now;
      line.add(at, got, pair.groups.length);
    });
  };
  add(overCutoff, (cutoff) => ({ cutoff }));
  add(overNear, (near_laws) => ({ near_laws }));
  add(overLimits, (limit) => Object.fromEntries(limitNames.map((name) => [name, limit])));
}

function addGrown([overCutoff, overNear, overLimits], pair, stage, setting) {
  const groups = pair.groups.length;
  const text = pair.texts[0];
  const start = rankings.nearStarts[text];
  fillByDepth(pair, stage, setting);
  let depth = Math.min(setting.near_laws, rankings.nearCounts[text]);
  for (let at = 0; at < overCutoff.xs.length; at++) {
    while (depth && rankings.levels[start + depth - 1] <= overCutoff.xs[at]) depth--;
    overCutoff.add(at, byDepth[depth], groups);
  }
  const most = nearDepth(text, setting.cutoff, data.depths.near_laws);
  for (let at = 0; at < overNear.xs.length; at++) overNear.add(at, byDepth[Math.min(most, overNear.xs[at])], groups);
  if (overLimits.xs.length) fillByLimit(pair, Math.min(most, setting.near_laws));
  for (let at = 0; at < overLimits.xs.length; at++) overLimits.add(at, byLimit[overLimits.xs[at]], groups);
}
