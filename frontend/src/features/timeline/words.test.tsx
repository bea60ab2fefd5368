// What rows and cards say, drawn without a browser.
import "../../test/browser";
import type { ReactElement } from "react";
import { renderToString } from "react-dom/server";
import { describe, expect, it } from "vitest";
import type { Question, Run, Status } from "../../api/types";
import type { EndItem } from "../../model/timeline/items";
import { ContextMeter } from "../../ui/Ring";
import { Markdown } from "./Markdown";
import { Editor } from "./prompt/QueueRow";
import { forget, texts } from "../../session/questiondrafts";
import { PlanCard } from "./question/PlanCard";
import { EndRow } from "./rows/EndRow";

const html = (el: ReactElement) => renderToString(el).replaceAll("<!-- -->", "");
const gutter = (s: string) => /class="gutter tnum"[^>]*>([^<]*)</.exec(s)?.[1];

const end = (status: Partial<Status>, more: Partial<EndItem> = {}) => {
  const of = { kind: "end", key: "e", runId: "r", at: 2000, startedAt: 1000 };
  const item = { ...of, status: { status: "completed", state: "done", ...status }, ...more } as EndItem;
  return html(<EndRow item={item} model="" open={false} onToggle={() => undefined} />);
};
const meter = (used_tokens: number, window_tokens?: number, fresh = false) => {
  return html(<ContextMeter context={{ used_tokens, window_tokens }} fresh={fresh} />);
};

describe("the end of a run", () => {
  it("says what it cost, and of the demo that it costs nothing", () => {
    expect(gutter(end({ cost_usd: 0.02 }))).toBe("$0.02");
    expect(gutter(end({ cost_usd: 0.0062, cost_estimated: true, state: "cancelled", status: "error" }))).toBe("&lt; $0.01");
    expect(gutter(end({ cost_usd: 0, model: "scripted" }))).toBe("no cost");
  });
  it("names no cost of a refusal, but why and what helps", () => {
    const failure = { code: "model_auth", cause: "The model refused the key (401).", remedy: "Check the key." } as EndItem["failure"];
    const said = end({ state: "failed", status: "error" }, { failure });
    expect(gutter(said)).toBe("");
    expect(said).toContain("The model refused the key (401).");
    expect(said).toContain("Check the key.");
    expect(said).toContain("Retry");
  });
  it("has a word for one that says nothing", () => {
    expect(end({ state: "failed", status: "error" })).toContain("The run ended without saying why.");
  });
});

describe("the context at the prompt", () => {
  it("is amber above 80 %", () => {
    expect(meter(160_000, 200_000)).not.toContain("high");
    expect(meter(172_000, 200_000)).toMatch(/class="context-meter tnum high"[^>]*aria-valuenow="86"/);
  });
  it("is no meter where it is not known", () => {
    expect(meter(84_000)).toContain("84 k tokens; the size of the model&#x27;s context is not known");
    expect(html(<ContextMeter context={undefined} fresh={false} />)).toContain("Context known after the next answer");
    expect(meter(172_000, 200_000, true)).toContain("empty: the next prompt begins a new conversation");
    for (const s of [meter(84_000), meter(172_000, 200_000, true)]) expect(s).not.toContain('role="meter"');
  });
});

describe("a plan", () => {
  const answering = { busy: false, failure: null, give: () => undefined };
  const card = (read_only: boolean) => html(<PlanCard q={{ kind: "exit_plan", plan: "1. Read it.", read_only } as Question} answering={answering} />);
  it("says that its run could not write", () => {
    expect(card(true)).toContain("This run could not write to your folders. Approving starts one that can.");
  });
  it("keeps the changes that were not sent", () => {
    texts.set("q", "not so fast");
    const q = { kind: "exit_plan", plan: "1. Read it.", question_id: "q" } as Question;
    expect(html(<PlanCard q={q} answering={answering} />)).toMatch(/<textarea[^>]*>not so fast/);
    forget("q");
    expect(html(<PlanCard q={q} answering={answering} />)).not.toContain("textarea");
  });
  it("of a run that can write is called that", () => {
    expect(card(false)).toContain("The agent chose to plan, in a run that can write to your folders.");
    expect(card(false)).not.toContain("read-only");
  });
});

describe("a waiting prompt", () => {
  it("keeps an edit whose editor was taken away", () => {
    texts.set("r", "do more");
    const editor = () => html(<Editor run={{ run_id: "r", channel_id: "c", prompt: "do it" } as Run} onDone={() => undefined} />);
    expect(editor()).toMatch(/<textarea[^>]*>do more/);
    texts.delete("r");
    expect(editor()).toMatch(/<textarea[^>]*>do it/);
  });
});

describe("agent text", () => {
  const md = (text: string) => html(<Markdown text={text} live={false} />);
  it("names what hides or reorders: in prose, in code, and where the source hides it", () => {
    expect(md("run \u202etxt.exe")).toContain("run ⟨RLO⟩txt.exe");
    expect(md("a `rm\u200b` b")).toContain("<code>rm⟨ZWSP⟩</code>");
    expect(md("```sh\nls \u2066x\r\nnext\n```")).toContain("ls ⟨LRI⟩x\nnext");
    expect(md("&#x202e;x ![a\u202eb](https://x.org/i.png)")).toMatch(/⟨RLO⟩x .*a⟨RLO⟩b/);
    expect(md("👩\u200d💻 ok")).toContain("👩\u200d💻 ok");
  });
  it("says where a link goes whose text names another host", () => {
    expect(md("[https://bank.com/login](https://evil.org:8080/)")).toContain("(evil.org:8080)");
    expect(md("[see **www.bank.com**](https://evil.org)")).toContain("(evil.org)");
    expect(md("[bank.com](https://evil.org)")).toContain("(evil.org)");
    expect(md("[https://bank.com@evil.org](https://bank.com)")).toContain("(bank.com)");
    for (const same of ["[the docs](https://x.org)", "<https://x.org/a>", "[www.x.org](https://x.org/b)", "[x.org/a](https://x.org/c)"]) {
      expect(md(same)).not.toContain("muted");
    }
  });
});
