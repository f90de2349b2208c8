// The links of the contents: they move the page and the focus, and leave the rest of the address as it is.

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
}
