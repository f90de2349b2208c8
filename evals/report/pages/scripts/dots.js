// How a dot and its text are drawn on a canvas.

// Dots of a lane are spread by the golden ratio's multiples, always the same.
const spread = (at) => ((at * 0.6180339887) % 1) - 0.5;

// Text on a patch of paper, so that no line crosses it; its width.
function writeOver(pen, text, x, y, colour) {
  const { width } = pen.measureText(text);
  pen.fillStyle = colour("paper");
  pen.fillRect(x, y - 13, width, 17);
  pen.fillStyle = colour("ink");
  pen.fillText(text, x, y);
  return width;
}

// A shape a lane: circle, square, triangle, diamond.
function drawDot(pen, lane, x, y, radius) {
  pen.beginPath();
  if (lane === 0) pen.arc(x, y, radius, 0, 7);
  else if (lane === 1) pen.rect(x - radius, y - radius, 2 * radius, 2 * radius);
  else if (lane === 2) pen.moveTo(x, y - radius * 1.3), pen.lineTo(x + radius * 1.3, y + radius), pen.lineTo(x - radius * 1.3, y + radius);
  else pen.moveTo(x, y - radius * 1.4), pen.lineTo(x + radius * 1.4, y), pen.lineTo(x, y + radius * 1.4), pen.lineTo(x - radius * 1.4, y);
  pen.fill();
}
