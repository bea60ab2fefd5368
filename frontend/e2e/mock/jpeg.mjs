// Pictures of coloured squares as real JPEGs, of 8×8 pixels each: only the mean of a square
// is coded, which takes a dozen lines of a JPEG's coder.
const Q = 1; // the quantizer: a mean is coded exactly to an eighth
// How long each code of a size is, by the standard's table for means (K.3).
const SIZES = ["00", "010", "011", "100", "101", "110", "1110", "11110", "111110", "1111110", "11111110", "111111110"];
const segment = (marker, bytes) => [0xff, marker, (bytes.length + 2) >> 8, (bytes.length + 2) & 255, ...bytes];

class Bits {
  bytes = [];
  held = 0;
  count = 0;
  put(text) {
    for (const c of text) {
      this.held = (this.held << 1) | (c === "1" ? 1 : 0);
      if (++this.count < 8) continue;
      this.bytes.push(this.held);
      if (this.held === 0xff) this.bytes.push(0);
      this.held = this.count = 0;
    }
  }
}

/** color(column, row) gives [red, green, blue] of each square. */
export function jpeg(width, height, color) {
  const head = [0xff, 0xd8, ...segment(0xdb, [0, ...Array(64).fill(Q)])];
  head.push(...segment(0xc0, [8, height >> 8, height & 255, width >> 8, width & 255, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0]));
  head.push(...segment(0xc4, [0x00, 0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]));
  head.push(...segment(0xc4, [0x10, 1, ...Array(15).fill(0), 0])); // one code: nothing but the mean
  head.push(...segment(0xda, [3, 1, 0, 2, 0, 3, 0, 0, 63, 0]));
  const bits = new Bits();
  const last = [0, 0, 0];
  for (let y = 0; y < Math.ceil(height / 8); y++) {
    for (let x = 0; x < Math.ceil(width / 8); x++) {
      const [r, g, b] = color(x, y);
      const ycc = [0.299 * r + 0.587 * g + 0.114 * b - 128, -0.1687 * r - 0.3313 * g + 0.5 * b, 0.5 * r - 0.4187 * g - 0.0813 * b];
      ycc.forEach((v, i) => {
        const mean = Math.max(-1024, Math.min(1016, Math.round((v * 8) / Q)));
        const diff = mean - last[i];
        last[i] = mean;
        const size = diff === 0 ? 0 : Math.floor(Math.log2(Math.abs(diff))) + 1;
        bits.put(SIZES[size]);
        if (size > 0) bits.put((diff > 0 ? diff : diff + 2 ** size - 1).toString(2).padStart(size, "0"));
        bits.put("0");
      });
    }
  }
  bits.put("1".repeat((8 - bits.count) % 8));
  return Buffer.from([...head, ...bits.bytes, 0xff, 0xd9]);
}
