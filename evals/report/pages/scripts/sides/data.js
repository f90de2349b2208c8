// The data in the page, unpacked once and never changed. Whatever a law or a question holds stays text.

const data = JSON.parse(document.getElementById("data").textContent);
const STAGES = data.stages;
const SIDES = data.sides;
const two = SIDES.length === 2;
const SIDE_NAMES = two ? ["before", "now"] : ["here"];
const last = SIDES.length - 1;
const COSINE_STEPS = 10000;

// A place or a length is stored one higher: 0 is a stage that was not run, and 1 a law that it lacks.
const NOT_RETURNED = 1;
const EXPECTED = [1, 2];

function readPairs() {
  const arrays = ["places", "lengths", "kept", "changed", "returned", "cosineCounts", "cosines"];
  const read = Object.fromEntries(arrays.map((name) => [name, unpack(data[name])]));
  const at = { place: 0, length: 0, returned: 0, kept: 0, cosine: 0 };
  const text = (number) => data.strings[number];
  const onBoth = (make) => SIDES.map((_, side) => make(side));
  const perStage = (make) => onBoth(() => STAGES.map(make));
  return data.pairs.map(([question, state, kind, language, topic, expects, asked, groups, accepted, sides], index) => {
    const pair = { index, id: text(question), state: text(state), kind: text(kind), language: text(language) };
    Object.assign(pair, { topic: text(topic), expects: text(expects), text: text(asked), accepted });
    pair.key = `${pair.id}@${pair.state}`;
    pair.laws = data.laws[pair.state];
    pair.groups = groups.map(([expected, laws, cosines]) => {
      return { expected, laws, cosines, places: perStage(() => read.places[at.place++]) };
    });
    pair.lengths = perStage(() => read.lengths[at.length++]);
    pair.changed = read.changed[index];
    pair.kept = Boolean(read.kept[index]);
    pair.sides = sides.map((side) => side && readSide(side, text));
    if (pair.kept) Object.assign(pair, rankingsOf(pair, read, at));
    return pair;
  });
}

function readSide([asked, outcome, rephrase, searches, nearest], text) {
  const [law, cosine] = nearest ?? [null, null];
  return { text: text(asked), outcome: text(outcome), rephrase: text(rephrase), searches: searches.map(text), law, cosine };
}

// The laws that each stage returned on each side, as far as the page holds them, and the near search's cosines.
function rankingsOf(pair, read, at) {
  const rankings = [];
  const cosines = [];
  for (let side = 0; side < SIDES.length; side++) {
    rankings.push(
      pair.lengths[side].map((length) => {
        const count = Math.min(Math.max(0, length - 1), data.depth);
        at.returned += count;
        return read.returned.subarray(at.returned - count, at.returned);
      }),
    );
    const count = read.cosineCounts[at.kept++];
    at.cosine += count;
    cosines.push(read.cosines.subarray(at.cosine - count, at.cosine));
  }
  return { rankings, cosines };
}

const pairs = readPairs();
const expectedOn = (group, side) => Boolean(group.expected & (two ? EXPECTED[side] : 3));

// What became of a group at a stage: lost or gained where both sides ran it and the first expects it, else nothing.
function flipOf(pair, group, stage) {
  if (!two || !pair.sides[0] || !pair.sides[1] || !expectedOn(group, 0)) return "";
  const [was, now] = group.places.map((places) => places[stage]);
  if (!was || !now || was > NOT_RETURNED === now > NOT_RETURNED) return "";
  return was > NOT_RETURNED ? "lost" : "gained";
}

const reached = (group, side, stage) => group.places[side][stage] > NOT_RETURNED;
const hasRun = (pair, side, stage) => pair.lengths[side][stage] > 0;

// A cosine cut after four digits, so that one under a cutoff never looks like it.
const cut = (cosine) => (Math.floor(cosine * COSINE_STEPS + 1e-9) / COSINE_STEPS).toFixed(4);
const cosineSaid = (cosine) => (cosine === null ? MISSING : cut(cosine));
const lawsOf = (pair, group) => group.laws.map((law) => pair.laws.ids[law]).join(" or ");
