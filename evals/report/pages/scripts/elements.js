// Elements made of text. Nothing here parses markup: what others wrote is shown as it is.

const SVG = "http://www.w3.org/2000/svg";

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null));
  return made;
}

const element = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
const drawn = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);
const byId = (id) => document.getElementById(id);

// Text of a person's, kept from changing the direction of what stands around it.
const said = (text) => element("bdi", {}, text);

// As Python's `.3f`: the nearest, and the even one of two that are as near.
function fixed(value, digits) {
  const scaled = value * 10 ** digits;
  const tie = Number.isInteger(value * 2 ** (digits + 1)) && Math.abs(scaled % 1) === 0.5;
  return tie && Math.floor(scaled) % 2 === 0 ? (Math.floor(scaled) / 10 ** digits).toFixed(digits) : value.toFixed(digits);
}

const MISSING = "–";
const share = (value) => (value === null ? MISSING : fixed(value, 3));
const tenths = (value) => (value === null ? MISSING : fixed(value, 1));
const whole = (value) => value.toLocaleString("en-US");
const signed = (text, value) => (value > 0 ? `+${text}` : text.replace("-", "−"));

function difference(here, before, digits) {
  if (here === null || before === null) return MISSING;
  const change = here - before;
  return Number(fixed(Math.abs(change), digits)) ? signed(fixed(change, digits), change) : "±0";
}

const plural = (count, one, many = `${one}s`) => `${whole(count)} ${count === 1 ? one : many}`;

function ordinal(number) {
  const last = [11, 12, 13].includes(number % 100) ? 0 : number % 10;
  return `${number}${{ 1: "st", 2: "nd", 3: "rd" }[last] ?? "th"}`;
}

// A cutoff as settings write it.
const cutoffText = (at) => String(cutoffs[at]);
const cosineText = (level) => (level ? cutoffs[level - 1].toFixed(4) : MISSING);

function copyButton(label, source) {
  const button = element("button", { type: "button", class: "copy" }, label);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = "Selected: press Ctrl or ⌘ + C";
    }
    setTimeout(() => (button.textContent = label), 2500);
  });
  return button;
}

// Rows in parts: the first so many, and a button for the rest.
function inParts(list, rows, make, size) {
  list.replaceChildren();
  let shown = 0;
  const more = element("button", { type: "button", class: "more" });
  const add = () => {
    list.append(...rows.slice(shown, shown + size).map(make));
    shown = Math.min(rows.length, shown + size);
    more.hidden = shown >= rows.length;
    more.textContent = `Show more: ${whole(rows.length - shown)} left`;
  };
  more.addEventListener("click", () => {
    const first = list.children.length;
    add();
    list.children[first]?.querySelector("button, a")?.focus();
  });
  add();
  return more;
}
