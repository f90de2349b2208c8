// Figures along the lines through a position: every cutoff, near limit and number of laws asked for.
//
// A line's settings differ by one law of one ranking at a time. So laws are added one by one, and for each law that is
// looked for the number of laws before it is kept up to date. Questions with searches are fused anew at each setting.

const NEAR_FIRST = 2 ** 20; // a law that only the near ranking holds comes after one of the same score by words
const before = new Int32Array(MOST_RELEVANT);

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

// What a pair of one text gets from fusion at every near depth, from 0, asked for `limit` laws.
function gotByDepth(pair, limit, got) {
  beginGrowth(limit);
  for (let rank = 1; rank <= limit; rank++) growWord(pair, rank);
  got[0] = tallyGrown(pair, limit);
  for (let rank = 1; rank <= data.depths.near_laws; rank++) {
    growNear(pair, rank);
    got[rank] = tallyGrown(pair, limit);
  }
}

// The same asked for every number of laws, from 1, with so many of the near ranking.
function gotByLimit(pair, depth, got) {
  beginGrowth(0);
  for (let rank = 1; rank <= depth; rank++) growNear(pair, rank);
  for (let limit = 1; limit <= data.depths.laws; limit++) {
    growWord(pair, limit);
    got[limit] = tallyGrown(pair, limit);
  }
}

const depthsGot = new Float64Array(data.depths.near_laws + 1);
const limitsGot = new Float64Array(data.depths.laws + 1);

// For one pair, a function from a setting to what it gets at a stage; `setting` is the position the lines go through.
function alongLines(pair, stage, setting) {
  if (stage === "near" || pair.texts.length > 1) return (asked) => evaluate(pair, stage, asked, null);
  const text = pair.texts[0];
  const here = limitOf(pair, stage, setting);
  const depth = nearDepth(text, setting.cutoff, setting.near_laws);
  gotByDepth(pair, here, depthsGot);
  gotByLimit(pair, depth, limitsGot);
  return (asked) => {
    const limit = limitOf(pair, stage, asked);
    return limit === here ? depthsGot[nearDepth(text, asked.cutoff, asked.near_laws)] : limitsGot[limit];
  };
}

// The figures at each setting of several lines through a position: settings that differ from it in one number.
function curves(stage, setting, lines, chosen) {
  const means = lines.map((line) => line.map(() => new Means()));
  for (const pair of chosen) {
    const got = alongLines(pair, stage, setting);
    lines.forEach((line, nth) => line.forEach((asked, at) => means[nth][at].add(pair, got(asked))));
  }
  return means.map((line) => line.map((each) => each.figures));
}
