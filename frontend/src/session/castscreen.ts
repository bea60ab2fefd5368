// The screen that draws recorded terminals. The terminals' part of the page makes it, and
// others use it from here, because no part imports another.
import type { Cast } from "../model/terminals/cast";

export type CastScreen = { seek(seconds: number): void; dispose(): void };
type Make = (cast: Cast, host: HTMLElement) => Promise<CastScreen>;

let make: Make = () => Promise.reject(new Error("nothing draws recordings"));

export const provideCastScreen = (by: Make) => {
  make = by;
};

export const castScreen: Make = (cast, host) => make(cast, host);
