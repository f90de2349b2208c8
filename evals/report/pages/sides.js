// The page begins: what the address holds is shown, and every control answers.

// Everything that depends on a filter, once a frame.
let waiting = false;
function changed() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    update();
  });
}

function update() {
  updateQuestions();
  updateBands();
  writeAddress();
}

// The dots anew where a filter of theirs changed: typing a search moves none.
let banded = null;
function updateBands() {
  const now = FILTERS.map((name) => view[name]).join("\n");
  if (now === banded) return;
  banded = now;
  setBands();
  pictures.forEach(drawPicture);
}

function showAddress() {
  readAddress();
  const open = pairs.find((pair) => pair.key === view.open);
  update();
  if (open) openTrace(open);
  else if (byId("trace").open) byId("trace").close();
}

function goTo(id) {
  const heading = byId(id);
  if (!heading) return;
  heading.scrollIntoView();
  heading.focus({ preventScroll: true });
}

function wireContents() {
  for (const link of document.querySelectorAll("nav a")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      view.at = link.hash.slice(1);
      goTo(view.at);
      writeAddress();
    });
  }
  byId("trace").addEventListener("close", () => {
    view.open = "";
    writeAddress();
  });
}

document.documentElement.classList.add("scripted");
wireQuestions();
wireContents();
makePictures();
showAddress();
if (view.at) goTo(view.at);
// A picture drawn in the colours of a dark screen would be pale on paper.
function printing(begins) {
  document.documentElement.classList.toggle("printing", begins);
  pictures.forEach(drawPicture);
}
addEventListener("beforeprint", () => printing(true));
addEventListener("afterprint", () => printing(false));
addEventListener("hashchange", () => {
  if (location.hash !== written) showAddress();
});
