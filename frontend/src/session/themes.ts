// Imported themes, which Loop keeps.
import type { ReadTheme, Theme } from "../api/types";
import { MAX_THEME } from "../model/theme";
import { setTheme } from "./actions";
import { session } from "./session";

export const listThemes = async (): Promise<Theme[]> => (await session().api.settings.themes()) ?? [];

/** What a text says as a theme. Nothing is kept. */
export const readTheme = (name: string, text: string): Promise<ReadTheme> => session().api.settings.readTheme(name, text);

export async function keepTheme(name: string, text: string, use: boolean): Promise<Theme> {
  const t = await session().api.settings.keepTheme(name, text);
  if (use) await setTheme(t.name);
  return t;
}

/** Forgets a theme. One that is worn is taken off first. */
export async function removeTheme(name: string, worn: boolean) {
  if (worn) await setTheme("system");
  await session().api.settings.removeTheme(name);
}

/** The text of a file, or a sentence that says why it is none. */
export async function textOfFile(f: File): Promise<string> {
  if (f.size > MAX_THEME) throw { code: "invalid", cause: "The file is larger than 1 MiB.", remedy: "A theme has some 100 KiB. Check that it is the right file." };
  return f.text();
}
