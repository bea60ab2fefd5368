// What one text of a settings file changes in another, as a patch.
import { createPatch } from "diff";

export const patchOf = (before: string, after: string): string => createPatch("settings", before, after, "", "", { context: 3 });
