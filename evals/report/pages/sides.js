// The page begins: what the address holds is shown, and every control answers.

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
  drawBands();
}

const drawBands = () => pictures.forEach(drawPicture);

wireQuestions();
wireContents();
makePictures();
begin(update, drawBands);
