import type { Bridge } from "./bridge";
import { headlessBridge } from "./headless";
import { inWails, windowBridge } from "./window";

/** Finds out where the page runs. No other place decides this. */
export async function openBridge(): Promise<Bridge> {
  return inWails() ? windowBridge() : headlessBridge();
}
