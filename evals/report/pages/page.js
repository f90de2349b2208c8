// The page begins: what the address holds is shown, and every control answers.

function showAddress() {
  readAddress();
  setBands(pairs.filter(inFilter));
  update();
  const open = pairs.find((pair) => pair.key === view.open);
  if (open) openTrace(open);
  else if (byId("trace").open) byId("trace").close();
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
}

function goTo(id) {
  const heading = byId(id);
  if (!heading) return;
  heading.scrollIntoView();
  heading.focus({ preventScroll: true });
}

document.documentElement.classList.add("scripted");
wireExplorer();
wireQuestions();
wireBands();
wireContents();
showAddress();
if (view.at) goTo(view.at);
// A picture drawn in the colours of a dark screen would be pale on paper.
function printing(begins) {
  document.documentElement.classList.toggle("printing", begins);
  drawBands();
}
addEventListener("beforeprint", () => printing(true));
addEventListener("afterprint", () => printing(false));
addEventListener("hashchange", () => {
  if (location.hash !== written) showAddress();
});
