// Programs that run in the mock's terminals.
const OSC = (s) => `\x1b]${s}\x07`;
const CRLF = (s) => s.replace(/\r?\n/g, "\r\n");

const FILES = "\x1b[34mcmd\x1b[0m  go.mod  go.sum  \x1b[34minternal\x1b[0m  main.go  \x1b[32mrun.sh\x1b[0m\n";

/** Sends input back, with CR LF for CR. */
export function echo(s) {
  s.onInput = (text) => void s.write(text.replaceAll("\r", "\r\n"));
}

/** Takes all input and prints nothing: the test prints. */
export function silent() {}

/** A shell with integration (OSC 133, 633, 7) and a few commands. */
export function shell(s) {
  let line = "";
  let busy = null; // a program that has the keyboard
  const prompt = () => s.write(`${OSC("133;A")}\x1b[32mana@loop-api-server\x1b[0m \x1b[34m~/src/api-server\x1b[0m \x1b[90mmain\x1b[0m\r\n$ ${OSC("133;B")}`);
  const done = (code) => {
    busy = null;
    void s.write(OSC(`133;D;${code}`));
    void prompt();
  };
  const commands = {
    ls: () => { void s.write(CRLF(FILES)); return 0; },
    "": () => 0,
    false: () => 1,
    test: () => { void s.write(CRLF("\x1b[32mok\x1b[0m      api-server/internal/auth        39.812s\n\x1b[31mFAIL\x1b[0m    api-server/internal/web [build failed]\n")); return 1; },
    status: () => { void s.write(CRLF(" \x1b[31mM\x1b[0m internal/auth/login.go\n \x1b[31mM\x1b[0m internal/auth/login_test.go\n")); return 0; },
    seq: (n) => { for (let i = 1; i <= Number(n || 100); i++) void s.write(`line ${i}\r\n`); return 0; },
    bell: () => { void s.write("\x07"); return 0; },
    exit: (n) => { s.end(Number(n || 0)); return null; },
    flood: (mb) => { void flood(s, Number(mb || 1)).then(() => done(0)); return null; },
    tui: () => { busy = tui(s, () => done(0)); return null; },
    leak: () => { void s.write("\x1b[?1003h\x1b[?1006h\x1b[?1004h"); return 137; }, // killed before it could tidy up
  };
  s.onInput = (text) => {
    if (busy) return busy(text);
    for (const ch of text) {
      if (ch === "\r") {
        const [name, ...args] = line.trim().split(" ");
        void s.write(`\r\n${OSC(`633;E;${line}`)}${OSC("133;C")}`);
        line = "";
        const code = commands[name] ? commands[name](...args) : (void s.write(`bash: ${name}: command not found\r\n`), 127);
        if (code !== null) done(code);
      } else if (ch === "\x7f") {
        if (line) void s.write("\b \b");
        line = line.slice(0, -1);
      } else if (ch === "\x03") {
        line = "";
        void s.write("^C\r\n");
        void prompt();
      } else if (ch >= " ") {
        line += ch;
        void s.write(ch);
      }
    }
    return undefined;
  };
  void s.write(OSC("7;file://host/home/ana/src/api-server") + OSC("2;api-server"));
  void prompt();
}

/** Prints lines as fast as the viewers take them: so many MB, and then on while more() is true. */
export async function flood(s, mb, more = () => false) {
  const line = "the quick brown fox jumps over the lazy dog, again and again 0123456789 \x1b[32mok\x1b[0m\r\n";
  const chunk = Buffer.from(line.repeat(Math.floor((32 * 1024) / line.length)));
  for (let n = 0; (n < mb * 1024 * 1024 || more()) && s.state === "running"; n += chunk.length) {
    await s.write(chunk);
    await new Promise((r) => setImmediate(r));
  }
}

/** A full-screen program with mouse, reports of focus and bracketed paste. The key q ends it. */
export function tui(s, over) {
  const draw = (what = "") => {
    const rows = Array.from({ length: s.rows - 2 }, (_, i) => `\x1b[${i + 2};1H\x1b[K${String(i + 1).padStart(3)} │ ${"▁▂▃▄▅▆▇█".repeat(4)}`).join("");
    void s.write(`\x1b[?2026h\x1b[1;1H\x1b[7m top of ${s.cols}x${s.rows} ${" ".repeat(Math.max(0, s.cols - 16 - String(s.cols).length))}\x1b[0m${rows}\x1b[${s.rows};1H\x1b[K${what}\x1b[?2026l`);
  };
  void s.write("\x1b[?1049h\x1b[?1h\x1b[?1003h\x1b[?1006h\x1b[?1004h\x1b[?2004h\x1b[2J");
  draw();
  s.onResize = () => draw();
  return (text) => {
    if (text === "q") {
      s.onResize = () => {};
      void s.write("\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[?1l\x1b[?1049l");
      over();
    } else draw(JSON.stringify(text).slice(0, s.cols - 1));
  };
}

export const programs = { echo, silent, shell };
