import { createStore } from "zustand/vanilla";

/** The build of one of OpenClaw's images, as this page began it; state is "" before. */
export type SandboxBuild = { kind: string; state: "" | "building" | "ready"; step: string; progress: number };

export const sandboxStore = createStore<SandboxBuild>(() => ({ kind: "", state: "", step: "", progress: 0 }));

const MISSING = /^image_missing:(sandbox(?:-common)?)$/;

/** The kind of the missing image that a failure is about, where Loop can build it; else "". */
export const buildable = (code: string) => MISSING.exec(code)?.[1] ?? "";
