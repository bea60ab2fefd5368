// Chooses the renderer. WebGL is good on Chromium with real hardware. WebKitGTK hides its
// hardware and shows the canvas late, and WebGL in software is slower than the DOM.
import type { Terminal } from "@xterm/xterm";

const MAX_LIVE = 8; // contexts at a time; browsers take some away beyond sixteen or so
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render|paravirtual|virgl/i;

let live = 0;
let hardware: boolean | null = null;

export function isChromium(ua = navigator.userAgent): boolean {
  return /Chrome\/|Chromium\/|Edg\//.test(ua);
}

/** Whether WebGL runs on hardware. It is tried once, and the context for the trial is freed at once. */
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

/** Draws with WebGL where that is good. Otherwise, and after a lost context, the DOM renderer draws. */
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
