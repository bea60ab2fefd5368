const UNITS = ["B", "KB", "MB", "GB"];

/** A number of bytes, as downloads and requests show it. */
export function byteSize(n: number): string {
  let unit = 0;
  let size = Math.max(0, n);
  while (size >= 1000 && unit < UNITS.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${unit === 0 || size >= 9.95 ? Math.round(size) : size.toFixed(1)} ${UNITS[unit]}`;
}
