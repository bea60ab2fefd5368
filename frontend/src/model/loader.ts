// Something that is loaded once, when it is first needed.
export const AGAIN_MS = 400;

export type Loader<T> = {
  /** What was loaded, or null. */
  got(): T | null;
  /** Loads it, or gives what another call is loading. A failure is not kept: the next call tries anew. */
  load(): Promise<T>;
};

/**
 * A second try follows the first, because a change of the network may have broken that.
 * fetch gets the error of the try before, and the number of tries that failed.
 */
export function loader<T>(fetch: (failed: unknown, tries: number) => Promise<T>, pause: (ms: number) => Promise<unknown>): Loader<T> {
  let got: T | null = null;
  let coming: Promise<T> | null = null;
  let failed: unknown = null;
  let tries = 0;
  async function once(): Promise<T> {
    try {
      return await fetch(failed, tries);
    } catch (err) {
      failed = err;
      tries++;
      throw err;
    }
  }
  async function twice(): Promise<T> {
    try {
      return await once();
    } catch {
      await pause(AGAIN_MS);
      return once();
    }
  }
  return {
    got: () => got,
    load() {
      coming ??= twice().then(
        (t) => (got = t),
        (err: unknown) => {
          coming = null;
          throw err;
        },
      );
      return coming;
    },
  };
}

/**
 * The address of the module that an error of import() names, if it is of the page's origin. Chromium
 * remembers that a module could not be fetched and does not ask for it again, so another
 * try needs another address. "" where the error names none, as in WebKit.
 */
export function moduleOf(err: unknown, origin: string): string {
  const found = /\S+\.js(?=\?again=|\s|$)/.exec(String(err instanceof Error ? err.message : ""))?.[0];
  return found?.startsWith(`${origin}/`) ? found : "";
}
