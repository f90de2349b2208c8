// A table that the page computes, saved as CSV: all its rows, at the position shown, with every digit.

const csvCell = (value) => {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const csvText = (rows) => rows.map((row) => `${row.map(csvCell).join(",")}\n`).join("");

// A button that saves what `rows` gives when it is pressed, as a file of that name.
function saveButton(name, rows) {
  const save = () => {
    const address = URL.createObjectURL(new Blob([csvText(rows())], { type: "text/csv" }));
    element("a", { href: address, download: `${name}.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };
  return element("button", { type: "button", class: "save", click: save }, `Save ${name}.csv`);
}
