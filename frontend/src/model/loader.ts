// Something that is loaded once, when it is first needed.
export const AGAIN_MS = 400;

export type Loader<T> = {
  /** What was loaded, or null. */
  got(): T | null;
  /** Loads it, or gives what another call is loading. A failure is not kept: the next call tries anew. */
  load(): Promise<T>;
};

/** A second try follows the first, because a change of the network may have broken that. */
export function loader<T>(fetch: () => Promise<T>, pause: (ms: number) => Promise<unknown>): Loader<T> {
  let got: T | null = null;
  let coming: Promise<T> | null = null;
  async function twice(): Promise<T> {
    try {
      return await fetch();
    } catch {
      await pause(AGAIN_MS);
      return fetch();
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
