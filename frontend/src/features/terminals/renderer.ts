// WebGL where it is known to be good: Chromium with real hardware. WebKitGTK hides
// its hardware and shows the canvas late, and software GL is slower than the DOM.
import type { Terminal } from "@xterm/xterm";

const MAX_LIVE = 8; // browsers take contexts away beyond some sixteen
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render|paravirtual|virgl/i;

let live = 0;
let hardware: boolean | null = null;

export function isChromium(ua = navigator.userAgent): boolean {
  return /Chrome\/|Chromium\/|Edg\//.test(ua);
}

/** Asked once; the context of the question is given back at once. */
export function hasHardware(): boolean {
  if (hardware !== null) return hardware;
  hardware = false;
  try {
    const gl = document.createElement("canvas").getContext("webgl2", { failIfMajorPerformanceCaveat: true });
    const info = gl?.getExtension("WEBGL_debug_renderer_info");
    const name = gl && info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
    hardware = name !== "" && !SOFTWARE.test(name);
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
  } catch {
    hardware = false;
  }
  return hardware;
}

/** Draws with the graphics card if that is good; the DOM renderer otherwise, and after the card gave up. */
export async function useBestRenderer(term: Terminal, stillWanted: () => boolean): Promise<() => void> {
  if (!isChromium() || live >= MAX_LIVE || !hasHardware()) return () => {};
  live++;
  let over = false;
  const end = () => {
    if (over) return;
    over = true;
    live--;
  };
  try {
    const { WebglAddon } = await import("@xterm/addon-webgl");
    if (!stillWanted()) {
      end();
      return () => {};
    }
    const addon = new WebglAddon();
    addon.onContextLoss(() => {
      addon.dispose();
      end();
    });
    term.loadAddon(addon);
    return () => {
      if (!over) addon.dispose();
      end();
    };
  } catch {
    end();
    return () => {};
  }
}
