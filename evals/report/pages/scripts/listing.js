// The question list, and the dialog that shows one question's trace.

function matches(pair, words) {
  if (!words.length) return true;
  const laws = pair.groups.map((group) => lawsOf(pair, group)).join(" ");
  const text = `${pair.text} ${pair.id} ${pair.state} ${laws}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

const wordsSought = () => view.search.toLowerCase().split(/\s+/).filter(Boolean);

function sorted(found) {
  const falling = view.sort.startsWith("-");
  const key = SORTED[view.sort.replace("-", "")];
  const keyed = found.map((pair) => [key(pair), pair]);
  const sign = falling ? -1 : 1;
  keyed.sort(([a, first], [b, second]) => (a < b ? -sign : a > b ? sign : first.index - second.index));
  return keyed.map(([, pair]) => pair);
}

function showListing(found) {
  byId("question-count").textContent = `${plural(found.length, "question")} of ${whole(pairs.length)}`;
  byId("question-more").replaceChildren(inParts(byId("question-rows"), found, questionRow, 50));
  for (const button of document.querySelectorAll("[data-sort]")) {
    const name = button.dataset.sort;
    const order = view.sort === name ? "ascending" : view.sort === `-${name}` ? "descending" : "none";
    button.closest("th").setAttribute("aria-sort", order);
  }
  if (byId("search").value !== view.search) byId("search").value = view.search;
  byId("list").value = view.list;
}

const questionButton = (pair) =>
  element("button", { type: "button", class: "question", click: () => openTrace(pair) }, said(pair.text || pair.id));

function openTrace(pair) {
  view.open = pair.key;
  const dialog = byId("trace");
  byId("trace-title").replaceChildren(said(pair.text || pair.id));
  byId("trace-body").replaceChildren(...traceParts(pair));
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  writeAddress();
}

// A choice of one of the page's options.
function wireChoice(name, then = changed) {
  const choose = byId(name);
  for (const option of OPTIONS[name]) choose.append(element("option", { value: option }, option));
  choose.addEventListener("change", () => {
    view[name] = choose.value;
    then();
  });
}

function wireListing() {
  wireChoice("list");
  byId("search").addEventListener("input", (event) => {
    view.search = event.target.value;
    changed();
  });
  for (const button of document.querySelectorAll("[data-sort]")) {
    button.addEventListener("click", () => {
      view.sort = view.sort === button.dataset.sort ? `-${button.dataset.sort}` : button.dataset.sort;
      changed();
    });
  }
  byId("trace").addEventListener("close", () => {
    view.open = "";
    writeAddress();
  });
}
