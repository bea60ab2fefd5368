// Saves what the page has got as a file. The window has no place for downloads, so there Loop
// itself writes files.
const LATER_MS = 60_000; // a browser may ask the person for a place first

export function saveFile(file: Blob, name: string) {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(file);
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), LATER_MS);
}
