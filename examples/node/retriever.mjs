// The search of search.mjs as a retriever for near-enough: a JSON line a question in, a JSON line a reply out.
//
//   near-enough ask --retriever "node examples/node/retriever.mjs retrieval/laws" --out run.jsonl
//   near-enough eval --run run.jsonl
//
// Its argument is the folder of laws, a JSON Lines file a state. Messages belong on standard error: console.error.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { search } from "./search.mjs";

const folder = process.argv[2];
const corpus = new Map();

function lawsOf(state) {
  if (!corpus.has(state)) {
    const lines = readFileSync(`${folder}/${state.toLowerCase()}.jsonl`, "utf8").split("\n");
    corpus.set(state, lines.filter((line) => line.trim()).map((line) => JSON.parse(line)));
  }
  return corpus.get(state);
}

for await (const line of createInterface({ input: process.stdin })) {
  const { state, question, limit } = JSON.parse(line);
  const found = search(lawsOf(state), question, limit);
  console.log(JSON.stringify({ laws: found.map((law) => law.id), scores: found.map((law) => law.score) }));
}
