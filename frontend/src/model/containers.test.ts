import { describe, expect, it } from "vitest";
import type { Channel, ContainerDrift, ContainerWatch, WatchedContainer } from "../api/types";
import { append, found, MAX_LINES, noLog, pieces } from "./container-log";
import { shortPlace, whyFits, whyRows } from "./container-why";
import { atQuit, byColumn, byNext, COLUMNS, FIRST, ordered, orderFrom, orderText, sortedHow } from "./container-order";
import { bytes, driftParts, fits, holdersList, limitOf, longTime, lossOf, matches, rowsOf, sums, usedOf } from "./containers";

const NOW = Date.parse("2026-01-02T03:00:00Z");
const iso = (ms: number) => new Date(NOW + ms).toISOString();
const MIN = 60_000;

function box(part: object): WatchedContainer {
  return {
    container_id: "c0ffee", container_name: "loop-api-3cc039", channel_id: "a", type: "agent", status: "running", image: "loop-agent:latest",
    created_at: iso(-134 * MIN), scope: "session:a", holders: [], ends_why: "stays", size_bytes: -1, samples: [], warm: false, ...part,
  } as unknown as WatchedContainer;
}
const channels = [{ channel_id: "a", name: "api-server", kind: "dir" }] as unknown as Channel[];
const row = (part: object) => rowsOf([box(part)], channels, NOW)[0] as ReturnType<typeof rowsOf>[number];
const drift = (part: Partial<ContainerDrift>): ContainerDrift => ({ changed: true, replaced: true, parts: ["mounts"], ...part });
const run = { kind: "run", id: "r" }, terminal = { kind: "terminal", id: "t" };

it.each([
  ["working", { holders: [run, terminal] }], ["running", { holders: [terminal] }], ["idle", {}], ["finishing", { holders: [terminal], scope: "" }],
  ["paused", { engine: { paused: true } }], ["stopped", { status: "stopped" }], ["kept", { status: "pending-removal", remove_at: iso(MIN) }],
  ["out of memory", { status: "stopped", engine: { oom_killed: true } }], ["working", { engine: { oom_killed: true }, holders: [run] }],
] as const)("a container is %s", (state, part) => {
  expect(row(part).state).toBe(state);
});

it.each([
  ["mounts changed: will be recreated", { holders: [run], drift: drift({}) }],
  ["mounts and image changed: the next use recreates it", { drift: drift({ parts: ["mounts", "image"] }) }],
  ["image changed: recreated once unused for 5 m", { holders: [terminal], drift: drift({ replaced: false, parts: ["image"] }) }],
  ["stays while it is held", { holders: [run] }],
  ["ends with the last who holds it", { holders: [run], scope: "" }],
  ["idle, ends in 30 m", { ends_at: iso(30 * MIN) }],
  ["kept to look into, removed in 4 m", { status: "pending-removal", remove_at: iso(4 * MIN), ends_at: iso(4 * MIN) }],
  ["started by the next use, ends in 1 d 4 h", { status: "stopped", ends_at: iso(28 * 60 * MIN) }],
  ["ends now", { ends_at: iso(-MIN) }],
  ["has no time to end at", { ends_why: "has no time to end at" }],
] as const)("what happens next: %s", (next, part) => {
  expect(row(part).next).toBe(next);
});

it("rows say who holds them, since when they are up, and of which channel they are", () => {
  expect(row({ holders: [run, terminal, { kind: "terminal", id: "u" }] })).toMatchObject({ title: "api-server", part: "", up: "2 h 14 m", held: [{ text: "run" }, { text: "2 terminals" }] });
  expect(row({ type: "chrome", channel_id: "x", status: "stopped" })).toMatchObject({ title: "removed channel", kind: "gone", part: "browser", up: "ended" });
  expect(holdersList([run, terminal, { kind: "terminal", id: "u" }] as never)).toBe("a run and 2 terminals");
});

it("those with work come first, then the oldest", () => {
  const list = [box({ container_id: "idle" }), box({ container_id: "new", holders: [run], created_at: iso(-MIN) }), box({ container_id: "old", holders: [run] }), box({ container_id: "end", status: "stopped" })];
  expect(rowsOf(list, channels, NOW).map((r) => r.id)).toEqual(["old", "new", "idle", "end"]);
});

it("filters", () => {
  const held = row({ holders: [run], ends_at: iso(MIN) }), soon = row({ ends_at: iso(30 * MIN) }), late = row({ ends_at: iso(90 * MIN) }), other = row({ drift: drift({}) });
  const which = (f: "all" | "held" | "ending" | "changed") => [held, soon, late, other].map((r) => (fits(r, f, NOW) ? 1 : 0)).join("");
  expect([which("all"), which("held"), which("ending"), which("changed")]).toEqual(["1111", "1000", "0100", "0001"]);
  expect(matches(held, "API 3cc039")).toBe(true);
  expect(matches(held, "api idle")).toBe(false);
  expect(matches(held, "")).toBe(true);
});

it("numbers are short", () => {
  expect([0, 900, 612 * 1024 * 1024, 1180000000].map(bytes)).toEqual(["0 MB", "1 kB", "612 MB", "1.1 GB"]);
  expect([59_000, 134 * MIN, 28 * 60 * MIN, 48 * 60 * MIN].map(longTime)).toEqual(["59 s", "2 h 14 m", "1 d 4 h", "2 d"]);
  expect(driftParts(drift({ parts: ["who shares it: the channel's next is that of one run alone", "limits"] }))).toBe("who shares it and limits");
  expect(lossOf(box({ size_bytes: 148 * 1024 * 1024 }))).toContain("(148 MB)");
});

describe("what containers use", () => {
  const samples = (...at: [number, number][]) => at.map(([s, cpus]) => ({ at_ms: NOW + s * 1000, cpus, memory_bytes: 100 }));
  it("is a line from ten minutes ago to now, with the limit on top", () => {
    const u = usedOf(box({ samples: samples([-700, 9], [-300, 1], [-290, 2], [0, 1.8]) }), "cpu", 2, NOW, 100, 21);
    expect(u).toMatchObject({ now: 1.8, most: 2, limit: 2, high: true });
    expect(u?.line).toBe("M50.0 11.0L51.7 1.0M100.0 3.0"); // what is older is left out, and a gap is no line
    expect(u?.area).toBe("M50.0 21L50.0 11.0L51.7 1.0L51.7 21L50.0 21ZM100.0 21L100.0 3.0L100.0 21L100.0 21Z");
    expect(usedOf(box({}), "cpu", 2, NOW, 100, 21)).toBeNull();
    expect(usedOf(box({ samples: samples([0, 1.69]) }), "cpu", 2, NOW, 10, 10)?.high).toBe(false);
    expect(usedOf(box({ samples: samples([0, 5]) }), "memory", 0, NOW, 10, 10)).toMatchObject({ now: 100, high: false });
  });
  it("has the machine as its limit where it has none of its own", () => {
    const w = { cpus: 8, memory_bytes: 1000 };
    expect(limitOf(box({ engine: { limits: { cpus: 0, memory_bytes: 50 } } }), "cpu", w)).toBe(8);
    expect(limitOf(box({ engine: { limits: { cpus: 0, memory_bytes: 50 } } }), "memory", w)).toBe(50);
    expect(limitOf(box({}), "memory", w)).toBe(1000);
  });
  it("is summed up over those that run", () => {
    const list = [box({ samples: samples([0, 1.2]), warm: true }), box({ samples: samples([0, 1.5]) }), box({ status: "stopped", samples: samples([0, 9]) })];
    const w = { containers: list, cpus: 8, memory_bytes: 2 ** 34, warm_most: 10 } as ContainerWatch;
    expect(sums(w)).toEqual({ cpus: "2.7 of 8 CPUs", memory: "1 kB of 16 GB", warm: "1 of 10 kept warm" });
    expect(sums({ ...w, cpus: 0, memory_bytes: 0, warm_most: 0 })).toEqual({ cpus: "", memory: "", warm: "1 kept warm" });
  });
});

it("an explanation is a table in the order in which people look", () => {
  const memory = { field: "limits.memory_bytes", value: "4294967296", layer: "project", path: "/p/.loop/config.json", line: 9, overrode: { setting: "container_memory_mb", value: "2048", layer: "global", path: "/h/.loop/config.json", line: 12 } };
  const why = {
    origins: [{ field: "type", value: "agent", layer: "run" }, { field: "mounts[/vol]", value: "loop-v rw", layer: "global" }, { field: "mounts[/src]", value: "/src ro", layer: "channel" }, { field: "env[GOFLAGS]", value: "-mod", layer: "project" }, memory],
    skipped: [{ text: "~/.ssh", reason: "holds private keys" }],
  };
  const rows = whyRows(why as never, [memory] as never);
  expect(rows.map((r) => [r.name, r.field, r.value, r.note])).toEqual([
    ["Memory limit", "limits.memory_bytes", "4 GB", "not in this container yet"], ["Folder", "/vol", "read and write, from loop-v", ""], ["Folder", "/src", "read only", ""],
    ["Folder", "~/.ssh", "left out", "holds private keys"], ["Variable", "GOFLAGS", "-mod", ""], ["Type", "type", "agent", ""],
  ]);
  expect(rows[0]?.overrode).toEqual({ value: "2 GB", layer: "global", path: "/h/.loop/config.json", line: 12 });
  expect(rows.filter((r) => whyFits(r, "", true))).toHaveLength(2);
  expect(rows.filter((r) => whyFits(r, "folder vol", false))).toHaveLength(1);
  expect(shortPlace("/home/ana/src/api/.loop/config.json", 14)).toBe(".loop/config.json:14");
  expect(shortPlace("C:\\Users\\a\\.loop\\config.json", 0)).toBe(".loop/config.json");
});

describe("a log", () => {
  it("grows by whole lines, without codes for terminals, and forgets the oldest", () => {
    const a = append(noLog, "one\r\n\u001b[31mtwo\u001b[0m\nthr", "t1");
    expect(a).toMatchObject({ lines: [{ n: 1, text: "one" }, { n: 2, text: "two" }], next: "t1", part: "thr" });
    expect(append(a, "ee\n", "t2").lines.at(-1)).toEqual({ n: 3, at: 0, text: "three", tone: "" });
    expect(append(a, "", "t1")).toBe(a);
    const many = append(a, `${"x\n".repeat(MAX_LINES)}`, "t3");
    expect(many.lines).toHaveLength(MAX_LINES);
    expect(many).toMatchObject({ cut: true, read: MAX_LINES + 2 });
  });
  it("is searched in any case", () => {
    const { lines } = append(noLog, "POST 401\nok\npost 401 401\n", "");
    expect(found(lines, "Post")).toEqual([1, 3]);
    expect(found(lines, "")).toEqual([]);
    expect(pieces("post 401 401", "401").map((p) => (p.hit ? `[${p.text}]` : p.text)).join("")).toBe("post [401] [401]");
    expect(pieces("İ", "i")).toEqual([{ text: "İ", hit: false }]);
  });
  it("says the time and level of loop init's lines, and the tone of others", () => {
    const said = (text: string) => append(noLog, `${text}\n`, "").lines[0];
    expect(said('time=2026-01-02T03:00:00.5Z level=WARN msg="it is \\"late\\"" id=7')).toEqual({ n: 1, at: NOW + 500, text: 'it is "late" id=7', tone: "need" });
    expect(said("time=2026-01-02T03:00:00Z level=INFO msg=failed")).toMatchObject({ text: "failed", tone: "" });
    expect(said("time=never level=INFO msg=x")).toMatchObject({ at: 0, text: "time=never level=INFO msg=x" });
    expect(["--- FAIL: TestX", "level=warn x", "failover done"].map((t) => said(t)?.tone)).toEqual(["fail", "need", ""]);
  });
});

it("the order by a column turns round, comes back by its name, and shows what is much first", () => {
  const at = (id: string, mb: number, holders: object[], size: number) =>
    box({ container_id: id, container_name: id, holders, size_bytes: size, created_at: iso(-mb * MIN), samples: mb > 0 ? [{ at_ms: NOW, cpus: 1 / mb, memory_bytes: mb }] : [] });
  const rows = rowsOf([at("a", 3, [], 5), at("b", 1, [terminal], -1), at("c", 0, [terminal, run], 9)], channels, NOW);
  const ids = (by: (typeof COLUMNS)[number], up = false) => ordered(rows, { by, up }).map((r) => r.id).join("");
  expect([ids("State"), ids("State", true)]).toEqual(["cba", "abc"]);
  expect([ids("Channel and container"), ids("Held by"), ids("Up"), ids("CPU"), ids("Memory"), ids("Size")]).toEqual(["abc", "cba", "cba", "bac", "abc", "cab"]);
  expect(ids("Memory", true)).toBe("cba");
  const ends = rowsOf([box({ container_id: "a" }), box({ container_id: "b", ends_at: iso(9 * MIN) }), box({ container_id: "c", ends_at: iso(MIN) }), box({ container_id: "d", drift: drift({}) })], channels, NOW);
  expect(ordered(ends, { by: "What happens next", up: false }).map((r) => r.id).join("")).toBe("dcba");
  const size = byColumn(FIRST, "Size");
  expect([size, byColumn(size, "Size"), byColumn(byColumn(size, "Size"), "Size")]).toEqual([{ by: "Size", up: false }, { by: "Size", up: true }, { by: "Size", up: false }]);
  expect([sortedHow(FIRST, "State"), sortedHow(FIRST, "Size"), sortedHow({ by: "Up", up: false }, "Up"), sortedHow({ by: "Size", up: true }, "Size")]).toEqual(["descending", "none", "ascending", "ascending"]);
  let o = FIRST;
  for (const by of COLUMNS) {
    expect(o).toEqual({ by, up: false });
    expect(orderFrom(orderText({ by, up: true }))).toEqual({ by, up: true });
    expect(orderFrom(orderText(o))).toEqual(o);
    o = byNext(o);
  }
  expect([o, orderFrom("nonsense")]).toEqual([FIRST, FIRST]);
  expect(rows.map((r) => r.id).join("")).toBe("cba"); // what was given stays as it was
});

it("what becomes of a container when Loop quits", () => {
  expect([atQuit("keep", false), atQuit("stop", false), atQuit("remove", false), atQuit("remove", true)].map((s) => s.split(/[;,]/)[0])).toEqual(["it goes on", "it is stopped", "it is removed", "it goes on"]);
});
