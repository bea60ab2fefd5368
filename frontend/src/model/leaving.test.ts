import { expect, it } from "vitest";
import type { Leaving, LeavingKind } from "../api/types";
import { goesOnFor } from "./leaving";

const of = (...kinds: LeavingKind[]) => kinds.map((kind) => ({ kind }));
const leaving = (more: Partial<Leaving>): Leaving => ({ stays: true, ends: [], goes_on: [], waits: [], ...more });

it("counts what Loop goes on for, wherever it stands", () => {
  expect(goesOnFor(leaving({ goes_on: of("run") }))).toBe("1 run");
  expect(goesOnFor(leaving({ goes_on: of("run"), waits: of("run", "prompt") }))).toBe("2 runs and 1 waiting prompt");
  expect(goesOnFor(leaving({ ends: of("program", "program", "recording", "image"), goes_on: of("run") }))).toBe("1 run, 2 programs in terminals, 1 recording and 1 build of the agent image");
});

it("does not count what needs no Loop", () => {
  expect(goesOnFor(leaving({ ends: of("program"), goes_on: of("terminal", "terminal") }))).toBe("1 program in a terminal");
  expect(goesOnFor(leaving({ goes_on: of("terminal") }))).toBe("nothing");
});
