import { expect, test } from "vitest";
import { findFiles } from "./filelinks";

const found = (text: string) => findFiles(text).map((l) => `${l.path}|${l.line}|${l.column}|${text.slice(l.from, l.to)}`);

test.each([
  ["src/a.go:12:3: undefined: x", ["src/a.go|12|3|src/a.go:12:3"]],
  ["    main_test.go:40: no", ["main_test.go|40|0|main_test.go:40"]],
  ["at f (/w/src/a.ts:1:22)", ["/w/src/a.ts|1|22|/w/src/a.ts:1:22"]],
  ["./a/b.c:9: error, ../x.h:2", ["./a/b.c|9|0|./a/b.c:9", "../x.h|2|0|../x.h:2"]],
  ["C:\\w\\a.go:3:1", ["C:\\w\\a.go|3|1|C:\\w\\a.go:3:1"]],
  ["Makefile:7: *** missing", ["Makefile|7|0|Makefile:7"]],
  ["größe/übung.py:5", ["größe/übung.py|5|0|größe/übung.py:5"]],
  ['  File "/w/my app/x.py", line 12, in f', ['/w/my app/x.py|12|0|File "/w/my app/x.py", line 12']],
  ["a.go:1,b.go:2", ["a.go|1|0|a.go:1", "b.go|2|0|b.go:2"]],
])("%s", (text, want) => {
  expect(found(text)).toEqual(want);
});

test.each([
  "http://localhost:8080/x", "https://a.example/b.go:3", "127.0.0.1:8080", "localhost:3000", "example.com:443", "12:30:45", "a:b", "foo:12",
  "2026-11-21T12:30:00", "a.go:0", 'File "<stdin>", line 1', "--:1", "x.go:12abc",
])("nothing in %s", (text) => {
  expect(found(text)).toEqual([]);
});

// The test fails if the search takes longer than a test may.
test.each(["a/", "a.", "../", "a:1", "(", 'File "', "\\"])("a hostile line of %s", (c) => {
  expect(findFiles(c.repeat(100_000)).length).toBeLessThan(2000);
});
