// A button that copies the text of an element; where the browser forbids it, selects it.
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
