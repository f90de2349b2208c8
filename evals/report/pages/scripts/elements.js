// Elements made of text. Nothing here parses markup: what others wrote is shown as it is.

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
const byId = (id) => document.getElementById(id);

// Text of a person's, kept from changing the direction of what stands around it.
const said = (text) => element("bdi", {}, text);

const MISSING = "–";
const whole = (value) => value.toLocaleString("en-US");
const plural = (count, one, many = `${one}s`) => `${whole(count)} ${count === 1 ? one : many}`;

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
