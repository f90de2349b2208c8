// Arrays as the data holds them: base64 of whole numbers of as many bits as the largest takes.

const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

// Whole numbers of so many bits each, the lowest first.
function unpack({ bits, count, data }) {
  const bytes = bytesOf(data);
  const numbers = bits > 16 ? new Uint32Array(count) : new Uint16Array(count);
  const mask = 2 ** bits - 1;
  let held = 0;
  let have = 0;
  let next = 0;
  for (let at = 0; at < count; at++) {
    for (; have < bits; have += 8) held |= bytes[next++] << have;
    numbers[at] = held & mask;
    held >>>= bits;
    have -= bits;
  }
  return numbers;
}
