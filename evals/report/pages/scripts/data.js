// The data in the page, unpacked once and never changed. Whatever a law or a question holds stays text.

// Where each of several runs of so many numbers begins.
function starts(counts) {
  const found = new Uint32Array(counts.length);
  for (let at = 1; at < counts.length; at++) found[at] = found[at - 1] + counts[at - 1];
  return found;
}

function readRankings(packed) {
  const read = Object.fromEntries(Object.entries(packed).map(([name, array]) => [name, unpack(array)]));
  const scored = read.wordCounts.map((count) => Math.min(count, data.wordScores));
  return { ...read, wordStarts: starts(read.wordCounts), nearStarts: starts(read.nearCounts), scoreStarts: starts(scored) };
}

function readPairs(packed) {
  const { questions } = packed;
  const states = Object.keys(packed.states);
  let group = 0;
  return packed.pairs.map(([question, state, expects, texts, groups, accepted, family], index) => {
    const firstGroup = group;
    group += groups.length;
    const relevant = [...new Set([...groups.flat(), ...accepted])];
    const targets = [...new Set([...relevant, ...family])];
    const id = questions.ids[question];
    return {
      index,
      id,
      key: `${id}@${states[state]}`,
      text: questions.texts[question],
      kind: packed.kinds[questions.kinds[question]],
      language: packed.languages[questions.languages[question]],
      topic: packed.topics[questions.topics[question]],
      tags: questions.tags[question].map((tag) => packed.tags[tag]),
      state: states[state],
      laws: packed.states[states[state]],
      expects,
      unrelated: questions.classes[question],
      texts,
      groups,
      accepted,
      relevant,
      // The laws that are looked for, the relevant ones first; each group's and the family's by their places there.
      targets,
      members: groups.map((group) => group.map((law) => targets.indexOf(law))),
      beside: family.map((law) => targets.indexOf(law)),
      family,
      firstGroup,
    };
  });
}

const data = JSON.parse(document.getElementById("data").textContent);
const cutoffs = new Float64Array(bytesOf(data.cutoffs).buffer);
const rankings = readRankings(data.rankings);
const pairs = readPairs(data);
const searchOf = unpack(data.searches.rows);
const answerable = pairs.filter((pair) => pair.expects === "answerable");
const unanswerable = pairs.filter((pair) => pair.expects !== "answerable");
const fates = Object.fromEntries(Object.entries(data.groups).map(([name, array]) => [name, unpack(array)]));

// The cosine of a level, cut after four digits; null where there is none.
const cosineOf = (level) => (level ? cutoffs[level - 1] : null);
