import type { Bridge } from "./bridge";
import { headlessBridge } from "./headless";
import { inWails, windowBridge } from "./window";

/** The one place that decides where this page runs. */
export async function openBridge(): Promise<Bridge> {
  return inWails() ? windowBridge() : headlessBridge();
}
