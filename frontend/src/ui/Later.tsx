// Parts of the page that are loaded when they are first needed, and in a quiet moment before.
import type { ComponentType, ReactNode } from "react";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { loader, moduleOf } from "../model/loader";
import { Button } from "./Button";
import { FailureCard } from "./FailureCard";
import { enterRegion } from "./layer";
import "./later.css";

const all: (() => Promise<unknown>)[] = [];

/** Loads what is not there yet, so that it opens at once and also when Loop does not answer. Who needs a part that fails here sees why. */
export async function loadAll() {
  for (const load of all) await load().catch(() => undefined);
}

type More<P> = {
  /** Puts what stands in the part's place into a frame. */
  frame?: (body: ReactNode, props: P, failed: boolean) => ReactNode;
  /** false: it is large, and only loaded when it is needed. */
  ahead?: boolean;
};

/** A component that takes the place of one that is loaded. name, with its article, stands in sentences. */
export function later<P extends object, M>(
  name: string, fetch: () => Promise<M>, pick: (m: M) => ComponentType<P>, { frame, ahead = true }: More<P> = {},
): ComponentType<P> & { load(): Promise<unknown> } {
  const part = loader(async (failed, n) => {
    const address = moduleOf(failed, `${location.protocol}//${location.host}`);
    const m = address ? ((await import(/* @vite-ignore */ `${address}?again=${n}`)) as M) : await fetch();
    const found = pick(m) as ComponentType<P> | undefined;
    if (!found) throw new Error("The file has another content.");
    return found;
  }, (ms) => new Promise((r) => setTimeout(r, ms)));
  if (ahead) all.push(part.load);

  function Later(props: P) {
    const [tries, setTries] = useState(0);
    const [failed, setFailed] = useState<unknown>(null);
    const [Part, setPart] = useState(() => part.got());
    const box = useRef<HTMLDivElement>(null);
    const left = useRef<HTMLElement | null>(null); // whose content had the keyboard while it was awaited
    useEffect(() => {
      if (Part) return;
      let here = true;
      part.load().then(
        (got) => {
          if (!here) return;
          left.current = box.current?.contains(document.activeElement) ? box.current.parentElement : null;
          setPart(() => got);
        },
        (err: unknown) => here && setFailed(err ?? new Error("It did not load.")),
      );
      return () => {
        here = false;
      };
    }, [tries, Part]);
    useLayoutEffect(() => {
      if (!Part || !left.current) return;
      const region = left.current.querySelector<HTMLElement>("[data-region]");
      enterRegion(region ?? left.current);
      left.current = null;
    }, [Part]);
    if (Part) return <Part {...props} />;
    function again() {
      box.current?.focus(); // the button goes
      setFailed(null);
      setTries((n) => n + 1);
    }
    const body = (
      <div className="later" ref={box} tabIndex={-1} data-region data-coming={failed ? "failed" : "soon"} role="group" aria-label={name} aria-busy={!failed}>
        {failed ? (
          <FailureCard failure={{ code: "page", cause: `${name} could not be loaded.`, remedy: "Try again. If Loop was updated or started anew meanwhile, reload the page.", detail: String(failed) }}>
            <Button look="small primary" onClick={again}>Try again</Button>
            <Button look="small" onClick={() => location.reload()}>Reload the page</Button>
          </FailureCard>
        ) : (
          <div className="later-soon" role="status">
            <span className="sr-only">Loading</span>
            {[46, 72, 58].map((w) => <div key={w} className="skeleton" style={{ width: `${w}%` }} aria-hidden />)}
          </div>
        )}
      </div>
    );
    return frame ? frame(body, props, failed !== null) : body;
  }
  return Object.assign(Later, { load: part.load });
}
