// Debian's Chromium, without its own background requests to the network, and with one
// process for all pages of an address.
import { chromium } from "playwright-core";

export function launch() {
  return chromium.launch({
    timeout: 120_000, // a cold start on a loaded machine
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--process-per-site"],
  });
}
