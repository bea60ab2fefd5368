// Which keys the desk names, drawn without a browser.
import "../../test/browser";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { renderToString } from "react-dom/server";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Approval } from "../../api/types";
import { needs } from "../../model/desk";
import { chooseKeys, knowPlatform } from "../../model/keys/store";

vi.stubGlobal("navigator", { platform: "MacIntel", userAgent: "" });
const { DeskPage } = await import("./DeskPage");
const { NeedCard } = await import("./NeedCard");

const SRC = new URL("../..", import.meta.url).pathname;
const sources = (dir: string): string[] => readdirSync(dir).flatMap((n) => (statSync(join(dir, n)).isDirectory() ? sources(join(dir, n)) : n.endsWith(".tsx") ? [join(dir, n)] : []));

const approval = { approval_id: "x", channel_id: "a", run_id: "r", kind: "file", state: "waiting", title: "Write", target: "/t", calls: 1, digest: "d", created_at: "2026-11-22T14:00:00Z" } as Approval;

beforeAll(() => chooseKeys({ "desk.stop": ["x"] }));
afterAll(() => {
  chooseKeys({});
  knowPlatform("linux");
});

describe("the keys that are named", () => {
  it("are those of this system, and those that the person chose", () => {
    const none = () => undefined;
    const cards = needs([approval], [], []).map((n) => <NeedCard key={n.id} need={n} nth={1} of={1} framed line={false} off={false} clicked={none} onFrame={none} onOpen={none} handle={none} />);
    const said = renderToString(<>{cards}<DeskPage /></>).replaceAll("<!-- -->", "");
    expect(said).toMatch(/<kbd class="kbd">⌘Enter<\/kbd> then allows/);
    expect(said).toMatch(/<kbd class="kbd">X<\/kbd> stop/i);
    expect(said).not.toContain("Ctrl");
  });
  it("are nowhere fixed texts with Ctrl, but for a key that is so on every system", () => {
    const fixed = sources(SRC).flatMap((p) => [...readFileSync(p, "utf8").matchAll(/<Kbd>(Ctrl[^<]*)<\/Kbd>/g)].map((m) => `${p.slice(SRC.length)}: ${m[1]}`));
    expect(fixed).toEqual(["features/settings/RawEditor.tsx: Ctrl Space"]);
  });
});
