// The person's own Claude set-up in words: what agents would get copies of.
import { createStore } from "zustand/vanilla";
import type { ClaudeSetupView, SetupFile } from "../api/types";
import { plural } from "./format";

/** view is null until Loop has answered. later: the person does not want to be asked. */
export const claudeSetupStore = createStore<{ view: ClaudeSetupView | null; later: boolean }>(() => ({ view: null, later: false }));

/** Files of one kind. words count them: “3 skills”. */
export type SetupGroup = { id: string; words: string; paths: string[] };

const CLAUDE_MD = "CLAUDE.md";
const TOP = "";
/** Folders of Claude Code, and what one file in each is called. */
const KINDS: Record<string, string> = { skills: "skill", agents: "agent", commands: "command", "output-styles": "output style", rules: "rule", "plugins-of-yours": "plugin file" };
const ORDER = [CLAUDE_MD, ...Object.keys(KINDS), TOP];
const list = new Intl.ListFormat("en-GB");

/** Groups files by kind. CLAUDE.md is a group of its own; other files beside it come last. */
export function setupGroups(files: SetupFile[]): SetupGroup[] {
  const of = new Map<string, string[]>();
  for (const { path } of files) {
    const folder = path.includes("/") ? (path.split("/")[0] ?? TOP) : TOP;
    const id = path === CLAUDE_MD ? CLAUDE_MD : KINDS[folder] ? folder : TOP;
    of.set(id, [...(of.get(id) ?? []), path]);
  }
  return ORDER.filter((id) => of.has(id)).map((id) => {
    const paths = of.get(id) ?? [];
    return { id, paths, words: id === CLAUDE_MD ? CLAUDE_MD : id === TOP ? plural(paths.length, "further file") : plural(counted(id, paths), KINDS[id] ?? "file") };
  });
}

/** A skill is a folder, however many files it has. */
const counted = (id: string, paths: string[]) => (id === "skills" ? new Set(paths.map((p) => p.split("/")[1])).size : paths.length);

/** Whether there is nothing that agents could use. */
export const setupEmpty = ({ setup }: ClaudeSetupView) => (setup.files ?? []).length + (setup.settings ?? []).length + (setup.asks ?? []).length === 0;

const NAMED = 3; // kinds in a sentence

/** Says that the set-up is not used; empty where there is nothing, or where the person has answered. */
export function setupUnused(view: ClaudeSetupView): string {
  if (view.grant !== "" || setupEmpty(view)) return "";
  const settings = (view.setup.settings ?? []).length;
  const words = [...setupGroups(view.setup.files ?? []).map((g) => g.words), ...(settings ? [plural(settings, "setting")] : [])];
  if (words.length === 0) return "Your Claude set-up is not used here.";
  const named = words.length > NAMED ? [...words.slice(0, NAMED), "more"] : words;
  return `Your ${list.format(named)} ${words.length === 1 && /^(1 |[^\d])/.test(words[0] ?? "") ? "is" : "are"} not used here.`;
}

/** What the settings say now. */
export function grantWords(grant: string): string {
  if (grant === "read") return "Agents have copies now.";
  return grant === "none" ? "Nothing of it is used now, as you chose." : "Nothing of it is used now.";
}
