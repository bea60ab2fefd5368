// What a project's own image is made of, and what the person decided on it.
import type { ProjectToolchain, SettingsView, TrustRequested } from "../api/types";

/** The step of a run that waits for the decision. */
export const TOOLCHAIN_STEP = "toolchain";

const WORDS: Record<string, string> = { image: "a Dockerfile", setup: "a set-up script", devcontainer: "a devcontainer" };

export const isToolchain = (fields: readonly string[] | null | undefined): boolean => fields?.length === 1 && (fields[0] ?? "") in WORDS;

export const toolchainWord = (kind: string): string => WORDS[kind] ?? "a file";

/** The one to decide on: what waits, else what a worktree has of its own, else its project's. */
export function toDecide(view: SettingsView): ProjectToolchain | undefined {
  const all = view.toolchains ?? [];
  return all.find((t) => t.state === "undecided") ?? all.at(-1);
}

/** Whether there is an earlier text to compare with: without one the difference is the whole text. */
export const hasChange = (t: ProjectToolchain): boolean => t.state === "undecided" && /^[- ]/m.test(t.diff.replace(/^--- .*$/gm, ""));

/** A request is over when a run of its channel goes on past the decision. */
export const settled = (asked: TrustRequested | undefined, step: string | undefined): boolean => Boolean(asked && step && step !== TOOLCHAIN_STEP && isToolchain(asked.fields));
