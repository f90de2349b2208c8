// An application's own search, as it may already be there: laws by the words that they share with a question.

const words = (text) => new Set(text.toLowerCase().match(/[a-z0-9]+/g) ?? []);

/** The `limit` laws that share most words with the question, best first, each with how many. */
export function search(laws, question, limit) {
  const asked = words(question);
  return laws
    .map((law) => ({ id: law.id, score: [...words(`${law.law} ${law.question ?? ""}`)].filter((word) => asked.has(word)).length }))
    .filter((found) => found.score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, limit);
}
