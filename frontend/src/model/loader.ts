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

export type LostStyles = {
  /** Notes a stylesheet that did not load. */
  lose(address: string): void;
  /** Asks again for all that are lost. must: it fails where one of them does. */
  bring(must: boolean): Promise<void>;
};

/**
 * Stylesheets that did not load. What Vite makes of import() asks for each only once, and counts one
 * that failed as loaded from then on, so the part would come without its styles.
 */
export function lostStyles(put: (address: string) => Promise<unknown>): LostStyles {
  const lost = new Set<string>();
  const coming = new Map<string, Promise<unknown>>();
  function one(address: string): Promise<unknown> {
    const before = coming.get(address);
    if (before) return before;
    const now = put(address).then(() => lost.delete(address)).finally(() => coming.delete(address));
    coming.set(address, now);
    return now;
  }
  return {
    lose: (address) => void lost.add(address),
    async bring(must) {
      const failed = (await Promise.allSettled([...lost].map(one))).find((r) => r.status === "rejected");
      if (must && failed) throw failed.reason;
    },
  };
}
