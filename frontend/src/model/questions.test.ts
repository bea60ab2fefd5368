import { describe, expect, it } from "vitest";
import type { Question } from "../api/types";
import { answered, emptyDraft, toggle, typedAnswer, write } from "./questions";

const one = { question: "Which?", options: [{ label: "A" }] };
const asks = (n: number) => ({ kind: "ask_user", questions: Array.from({ length: n }, () => one) }) as Question;

describe("what is typed into the prompt box as the answer", () => {
  it("answers the one question, beside what was chosen and written there", () => {
    const q = asks(1);
    expect(typedAnswer(q, "typed")).toEqual({ action: "answer", choices: [[]], texts: ["typed"] });
    const draft = write(toggle(emptyDraft(q), 0, "A", false), 0, "written");
    expect(typedAnswer(q, "typed", draft)).toEqual({ action: "answer", choices: [["A"]], texts: ["written\ntyped"] });
  });
  it("goes with the answers to several, and is shown", () => {
    const q = asks(2);
    const a = typedAnswer(q, "typed", toggle(emptyDraft(q), 0, "A", false));
    expect(a).toEqual({ action: "answer", choices: [["A"], []], texts: ["", ""], text: "typed" });
    expect([answered(0, a), answered(1, a), answered(1, { action: "answer" })]).toEqual(["A", "see below", ""]);
  });
  it("changes a plan", () => {
    expect(typedAnswer({ kind: "exit_plan" } as Question, "smaller")).toEqual({ action: "revise", text: "smaller" });
  });
});
