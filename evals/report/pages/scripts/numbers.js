// Figures as text.

// As Python's `.3f`: the nearest, and the even one of two that are as near.
function fixed(value, digits) {
  const scaled = value * 10 ** digits;
  const tie = Number.isInteger(value * 2 ** (digits + 1)) && Math.abs(scaled % 1) === 0.5;
  return tie && Math.floor(scaled) % 2 === 0 ? (Math.floor(scaled) / 10 ** digits).toFixed(digits) : value.toFixed(digits);
}

const share = (value) => (value === null ? MISSING : fixed(value, 3));
const tenths = (value) => (value === null ? MISSING : fixed(value, 1));
const signed = (text, value) => (value > 0 ? `+${text}` : text.replace("-", "−"));

function difference(here, before, digits) {
  if (here === null || before === null) return MISSING;
  const change = here - before;
  return Number(fixed(Math.abs(change), digits)) ? signed(fixed(change, digits), change) : "±0";
}

function ordinal(number) {
  const last = [11, 12, 13].includes(number % 100) ? 0 : number % 10;
  return `${number}${{ 1: "st", 2: "nd", 3: "rd" }[last] ?? "th"}`;
}

// A cutoff as settings write it.
const cutoffText = (at) => String(cutoffs[at]);
const cosineText = (level) => (level ? cutoffs[level - 1].toFixed(4) : MISSING);
