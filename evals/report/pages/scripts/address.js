// The address keeps what the page shows, so that a link shows it; the page follows the address and its controls.

// A choice that a fragment holds; what the page does not know or what cannot be is left out.
function readChoice(name, value) {
  if (Object.hasOwn(OPTIONS, name)) view[name] = OPTIONS[name].includes(value) ? value : defaults[name];
  else if (name === "search" || name === "at") view[name] = value;
  else if (name === "open" && pairs.some((pair) => pair.key === value)) view.open = value;
}

const changedChoices = () => Object.keys(defaults).filter((name) => view[name] !== defaults[name]).map((name) => [name, view[name]]);

let written = location.hash;
function writeAddress() {
  const now = address();
  if (now === written || (now === "#" && !written.includes("="))) return;
  written = now;
  history.replaceState(null, "", now);
}

// Everything that depends on a control, once a frame.
let waiting = false;
function changed() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    update();
  });
}

function showAddress(renew) {
  readAddress();
  const open = pairs.find((pair) => pair.key === view.open);
  renew();
  if (open) openTrace(open);
  else if (byId("trace").open) byId("trace").close();
}

// The page begins. renew: all that depends on the address, anew. draw: the bands again.
function begin(renew, draw) {
  document.documentElement.classList.add("scripted");
  showAddress(renew);
  if (view.at) goTo(view.at);
  // A picture drawn in the colours of a dark screen would be pale on paper.
  const printing = (begins) => {
    document.documentElement.classList.toggle("printing", begins);
    draw();
  };
  addEventListener("beforeprint", () => printing(true));
  addEventListener("afterprint", () => printing(false));
  addEventListener("hashchange", () => {
    if (location.hash !== written) showAddress(renew);
  });
}
