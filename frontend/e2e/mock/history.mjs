// Timelines that exist before the page is opened.
import { newID, used } from "./world.mjs";

const MODEL = "claude-sonnet-4-5-20250929";

const LOGIN_TEST = ["package auth", "", "import \"testing\"", "", "// TestLogin signs a person in and reads the session that this makes, which the handler writes behind its answer.", "func TestLogin(t *testing.T) {", "\tsrv := newServer(t)", "\tif srv == nil {", "\t\tt.Fatal(\"no server\", 1)", "\t}"];

/** A finished run with every kind of row. */
export function flakyTest(w, ch, at) {
  const run = newID();
  const dir = ch.dir;
  const e = (type, data, ms) => w.emit(type, ch.channel_id, run, data, (at += ms));
  const tool = (name, input, output, ms, more = {}) => {
    const id = `toolu_${newID().slice(0, 10)}`;
    e("tool.use", { tool_use_id: id, tool_name: name, input }, 120);
    e("tool.result", { tool_use_id: id, output, is_error: false, ...more }, ms);
    return id;
  };
  e("message.created", { msg_id: newID(), content: "The login test fails about one time in ten on CI. Find out why and fix it; do not just retry it.", is_bot: false }, 0);
  e("agent.status", { status: "running", state: "starting", step: "image" }, 20);
  e("agent.status", { status: "running", state: "starting", step: "container" }, 60);
  e("agent.status", { status: "running", state: "starting", step: "link" }, 310);
  e("agent.status", { status: "running", state: "running", step: "agent" }, 40);
  e("run.notice", { level: "warning", text: "Mount skipped: ~/.ssh is not in the allowed list." }, 5);
  e("agent.thinking", { msg_id: "m1", text: "The test is flaky, so timing is likely. I should look at how the session cookie is written, and whether the test waits for a signal or for a fixed time." }, 2400);
  e("message.created", { msg_id: "m1", content: "The test waits for a fixed 50 ms before it reads the session cookie. I will look at how the handler sets it.", is_bot: true }, 3000);
  tool("Read", { file_path: `${dir}/internal/auth/login_test.go` }, Array.from({ length: 148 }, (_, i) => `${String(i + 1).padStart(5)}→${LOGIN_TEST[i] ?? (i === 60 ? "\ttime.Sleep(50 * time.Millisecond)" : "\t// …")}`).join("\n"), 110);
  tool("Grep", { pattern: "SetCookie\\(|time\\.Sleep", path: `${dir}/internal` }, "Found 6 files\ninternal/auth/login.go\ninternal/auth/login_test.go\ninternal/auth/session.go\ninternal/web/mw.go\ninternal/web/web.go\ninternal/web/web_test.go", 190);
  tool("Bash", { command: "go test ./internal/auth -run Login -count=200", description: "Reproduce the failure" }, `Exit code 1\n\u001b[32m✓\u001b[0m  internal/session \u001b[2m(1.21s)\u001b[0m\n\u001b[31m✖\u001b[0m  internal/auth \u001b[2m(41.203s)\u001b[0m\n${Array.from({ length: 40 }, (_, i) => `--- FAIL: TestLogin (0.05s)\n    login_test.go:64: cookie not set after 50ms (attempt ${i + 1})`).join("\n")}\n\u001b[1;31m=== FAIL: internal/auth TestLogin/fresh_session\u001b[0m \u001b[2m(0.06s)\u001b[0m\n    \u001b[4mlogin_test.go:63\u001b[0m: sessions: got \u001b[31m0\u001b[0m, want \u001b[32m1\u001b[0m\n\u001b[1mDONE\u001b[0m 200 tests, \u001b[38;5;203m19 failures\u001b[0m in 41.862s`, 41200, { is_error: true });
  e("agent.activity", { activity: "api_retry", description: "The model is overloaded (529). Trying again in 2s, attempt 1 of 10.", retry: { attempt: 1, of: 10, delay_ms: 2000, why: "The model is overloaded (529)." } }, 900);
  e("message.created", { msg_id: "m2", content: "19 of 200 fail, so it is a race: the handler writes the session **after** it answers. The right fix is to wait for the write, not for the clock.\n\n| what | before | after |\n|---|---|---|\n| wait | 50 ms | until written |\n| failures | 19 of 200 | 0 of 200 |\n\n1. `SessionWritten` is closed once the session is stored.\n2. The test selects on it, with the test's own deadline.", is_bot: true }, 6200);
  tool("Edit", { file_path: `${dir}/internal/auth/login_test.go`, old_string: "time.Sleep(50 * time.Millisecond)", new_string: "select {…" }, "The file has been updated.", 95, {
    files: [{ path: `${dir}/internal/auth/login_test.go`, kind: "edit", added: 6, removed: 2, patch: "@@ -58,7 +58,11 @@ func TestLogin(t *testing.T) {\n \tsrv := newServer(t)\n \tres := srv.post(\"/login\", form)\n \n-\ttime.Sleep(50 * time.Millisecond)\n+\tselect {\n+\tcase <-srv.SessionWritten():\n+\tcase <-t.Context().Done():\n+\t\tt.Fatal(\"session was never written\")\n+\t}\n \n-\tif got := srv.sessions.Len(); got != 1 { // the session of the person who signed in, and of nobody else in this test\n+\tif got := srv.Sessions(); got != 1 { // the session of the person who signed in, and of nobody else in this test\n \t\tt.Fatalf(\"sessions: got %d, want 1\", got)\n" }],
  });
  tool("TodoWrite", { todos: [{ content: "Reproduce the failure", status: "completed" }, { content: "Wait for the write", status: "completed" }, { content: "Run the test 200 times", status: "in_progress" }] }, "ok", 20);
  tool("Bash", { command: "go test ./internal/auth -run Login -count=200" }, "ok  \tapi-server/internal/auth\t39.812s", 39800);
  tool("Bash", { command: "printf 'safe\u202egpj.exe' && echo \u001b[31mred\u001b[0m", description: "" }, "safe\u202egpj.exe\u001b[31mred\u001b[0m\u0007", 40);
  w.emit("agent.raw", ch.channel_id, run, { type: "telemetry", subtype: "cache", hits: 14, note: "a kind that Loop does not know" }, (at += 10));
  e("message.created", { msg_id: "m3", content: "Fixed. The test now waits until the session is written instead of for 50 ms; 200 runs passed.\n\n```go\nselect {\ncase <-srv.SessionWritten():\ncase <-t.Context().Done():\n\tt.Fatal(\"session was never written\")\n}\n```\n\nSee the [testing guide](https://go.dev/doc/faq#testing) for why fixed sleeps go wrong. ![pixel](https://tracker.example/p.png) <img src=x onerror=alert(1)> [bad](javascript:alert(1))", is_bot: true }, 4100);
  e("agent.status", { status: "completed", state: "done", result: "Fixed.", session_id: newID(), duration_ms: 98200, num_turns: 9, model: MODEL, ...used(0.1834, 42) }, 300);
  ch.context = used(0.1834, 42).context;
  w.runs.set(run, { run_id: run, channel_id: ch.channel_id, prompt: "The login test fails", state: "done", ended_at: new Date(at).toISOString(), started_at: new Date(at - 98200).toISOString(), created_at: new Date(at - 98200).toISOString(), priority: 0, demo: false });
  w.cost += 0.1834;
  return at;
}

export function failedRun(w, ch, at, failure, state = "failed") {
  const run = newID();
  const e = (type, data, ms) => w.emit(type, ch.channel_id, run, data, (at += ms));
  e("message.created", { msg_id: newID(), content: "Redesign the checkout page so that it fits on one screen.", is_bot: false }, 0);
  e("agent.status", { status: "running", state: "starting", step: "image" }, 20);
  e("agent.status", { status: "running", state: "starting", step: "container" }, 60);
  if (failure.code !== "no_link") {
    e("agent.status", { status: "running", state: "running", step: "agent" }, 310);
    e("tool.use", { tool_use_id: "t1", tool_name: "Bash", input: { command: "npm run build" } }, 900);
  } else e("agent.status", { status: "running", state: "starting", step: "link" }, 310);
  e("agent.status", { status: "error", state, failure, error: failure.cause, duration_ms: 12100, exit_code: 137 }, 10000);
  w.runs.set(run, { run_id: run, channel_id: ch.channel_id, prompt: "Redesign", state, ended_at: new Date(at).toISOString(), started_at: new Date(at).toISOString(), created_at: new Date(at).toISOString(), priority: 0, demo: false, outcome: { failure } });
  return at;
}

/** Thousands of items: n turns of prompt, text and two tool calls. */
export function long(w, ch, turns) {
  let at = Date.now() - turns * 60_000;
  for (let i = 0; i < turns; i++) {
    const run = newID();
    const e = (type, data, ms) => w.emit(type, ch.channel_id, run, data, (at += ms));
    e("message.created", { msg_id: newID(), content: `Task ${i + 1}: look at module ${i % 17} and tidy it.`, is_bot: false }, 1000);
    e("agent.status", { status: "running", state: "starting", step: "container" }, 200);
    e("message.created", { msg_id: newID(), content: `Looking at module ${i % 17}. ${"It has grown over time and some of it repeats. ".repeat((i % 5) + 1)}`, is_bot: true }, 2000);
    e("tool.use", { tool_use_id: `a${i}`, tool_name: "Read", input: { file_path: `${ch.dir}/mod${i % 17}.go` } }, 100);
    e("tool.result", { tool_use_id: `a${i}`, output: "package mod\n\nfunc F() {}\n", is_error: false }, 100);
    e("tool.use", { tool_use_id: `b${i}`, tool_name: "Bash", input: { command: `go test ./mod${i % 17}` } }, 100);
    e("tool.result", { tool_use_id: `b${i}`, output: "ok", is_error: i % 9 === 0 }, 1500);
    e("agent.status", { status: "completed", state: "done", duration_ms: 5000, num_turns: 2, model: MODEL, ...used(0.01, 7) }, 100);
  }
}
