// The page as in Loop's own window: it uses bound calls and the runtime's events
// instead of fetch and a socket, over the same mock.

/** Serves as a test's option open. ask(page, what) makes the window ask the person something. */
export async function openWindow(page, mock) {
  await page.addInitScript(({ token, address }) => {
    const listeners = {};
    const invoke = async (service, method, args) => {
      const r = await fetch(`${address}/api/call/${service}.${method}`, { method: "POST", headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` }, body: JSON.stringify(args) });
      const v = await r.json();
      if (!r.ok) throw v;
      return v;
    };
    const methods = (service) => new Proxy({}, { get: (_, method) => (...args) => (service === "Terminals" && method === "Endpoint" ? Promise.resolve({ base: `${address}/`, token }) : invoke(service, method, args)) });
    const emit = (name, data) => (listeners[name] ?? []).forEach((l) => l(data));
    window.go = { bind: Object.fromEntries(["Channels", "Runs", "Settings", "System", "Terminals"].map((s) => [s, methods(s)])) };
    window.runtime = { EventsOn: (name, l) => (listeners[name] ??= []).push(l) };
    window.ask = (what) => emit("loop:ask", what);
    const events = new WebSocket(`${address.replace("http", "ws")}/api/ws`, ["loop", `loop.token.${token}`]);
    events.addEventListener("message", (e) => emit("loop:events", JSON.parse(e.data)));
  }, { token: mock.token, address: mock.address });
  await page.goto(mock.address);
  await page.getByText("today $").waitFor();
}

export const ask = (page, what) => page.evaluate((w) => window.ask(w), what);

const at = new Date(2030, 0, 2, 17, 30).toISOString();
/** The answer to what would end with Loop, with something of each kind. */
export const under = {
  stays: true,
  ends: [
    { kind: "program", channel_id: "c", channel: "api-server", name: "vim notes\u202e.md", title: "notes - VIM", host: true },
    { kind: "program", channel_id: "c", channel: "storefront", name: "npm run dev", title: "npm run dev", host: true },
    { kind: "recording", channel_id: "c", channel: "api-server", title: "Claude" },
    { kind: "image" },
  ],
  goes_on: [{ kind: "run", channel_id: "c", channel: "infra", name: "Fix the flaky test" }, { kind: "terminal", channel_id: "c", channel: "infra", name: "make", title: "make" }],
  waits: [{ kind: "run", channel_id: "c", channel: "api-server", name: "Show me around" }, { kind: "prompt", channel_id: "c", channel: "docs", name: "Write the notes", at }],
};
