// Mock of the backend's threads, worktrees, conversations, questions and queue.
import { fail, newID } from "./world.mjs";

const HOLD_MS = 300_000;

export function branchCalls(w, play) {
  const need = (id) => w.channels.get(id) ?? (() => { throw fail("not_found", "That channel is not there any more.", "Choose another one."); })();
  const queued = (id) => {
    const run = w.runs.get(id);
    if (run?.state !== "queued") throw fail("conflict", "That prompt has begun already.", "Stop its run instead.");
    return run;
  };
  const child = (kind, parent, name, extra) => w.view(w.addChannel(name, extra.dir ?? parent.dir, kind, { parent_id: parent.channel_id, ...extra }));
  // Its name gives way to the first prompt, and it says which message both have.
  const thread = (p, name, start) => {
    const both = w.events.get(p.channel_id).findLast((e) => e.type === "message.created" && (!start.at || e.data.uuid === start.at));
    const origin = both && { channel_id: p.channel_id, event_id: both.id, words: both.data.content.slice(0, 60) };
    return child("thread", p, name || `Thread ${below(p.channel_id).length + 1}`, { next_session: start, ...(origin && { origin }), ...(!name && { untitled: true }) });
  };
  const below = (id) => [...w.channels.values()].filter((c) => c.parent_id === id).flatMap((c) => [c.channel_id, ...below(c.channel_id)]);
  const changed = (run) => { w.emit("queue.changed", run.channel_id, run.run_id, run); return { ...run }; };
  return {
    "Channels.CreateThread": ({ parent_id, name, session }) => thread(need(parent_id), name, session ?? { mode: "fork" }),
    "Channels.Branches": (id) => {
      need(id);
      return w.branches ?? { branches: [], changes: 0, changed: [] };
    },
    "Channels.CreateWorktree": ({ parent_id, branch, name }) => {
      const p = need(parent_id);
      if (!/^[\w./-]+$/.test(branch)) throw fail("invalid_input", "That is not a name for a branch.", "Use letters, digits, “-”, “_” and “/”.");
      return child("worktree", p, name, { branch, parent_dir: p.dir, dir: `${p.dir}/.worktrees/${branch}` });
    },
    "Channels.RemoveTree": (id) => {
      need(id);
      for (const x of [...below(id).reverse(), id]) { w.channels.delete(x); w.emit("channel.deleted", x, "", null); }
      return null;
    },
    "Channels.Sessions": (id) => { need(id); return w.sessions.get(id) ?? []; },
    "Channels.SetSession": (id, start) => { const c = need(id); c.next_session = start; w.emit("channel.updated", id, "", c); return w.view(c); },
    "Channels.Messages": () => [],
    "Channels.ForkAt": (id, start, name) => thread(need(id), name, start),
    "Channels.Search": (q) => [...w.channels.values()].filter((c) => c.name.includes(q)).map((c) => w.view(c)),
    "Runs.Edit": (id, prompt) => {
      const run = queued(id);
      run.prompt = prompt;
      delete run.hold_until;
      const out = changed(run);
      play.drain(run.channel_id);
      return out;
    },
    "Runs.Hold": (id) => { const run = queued(id); run.hold_until = new Date(Date.now() + HOLD_MS).toISOString(); return changed(run); },
    "Runs.Release": (id) => { const run = queued(id); delete run.hold_until; changed(run); play.drain(run.channel_id); return null; },
    "Runs.Reorder": (channel, ids) => {
      const q = w.queues.get(channel);
      if (ids.length !== q.length || !q.every((r) => ids.includes(r.run_id))) throw fail("conflict", "The queue has changed meanwhile.", "Look at it again.");
      q.sort((a, b) => ids.indexOf(a.run_id) - ids.indexOf(b.run_id));
      q.forEach((r, i) => { r.rank = i + 1; changed(r); });
      return q.map((r) => ({ ...r }));
    },
    "Runs.Steer": (id) => {
      const run = queued(id);
      const q = w.queues.get(run.channel_id);
      run.priority = Math.max(0, ...q.map((r) => r.priority)) + 1;
      delete run.not_before;
      q.splice(q.indexOf(run), 1);
      q.unshift(run);
      changed(run);
      play.interrupt(run.channel_id);
      return null;
    },
    "Runs.Questions": () => [...w.questions.values()].filter((q) => q.state === "open"),
    "Runs.Answer": (id, answer) => {
      const q = w.questions.get(id);
      if (!q) throw fail("not_found", "That question is not there any more.", "Reload the page.");
      if (q.state !== "open") throw fail("conflict", "That question was answered already.", "Look at the timeline.");
      Object.assign(q, { state: answer.action === "cancel" ? "cancelled" : "answered", answer, resolved_at: new Date().toISOString() });
      w.emit(q.kind === "exit_plan" ? "agent.plan_resolved" : "agent.ask_resolved", q.channel_id, q.run_id, { ...q });
      if (answer.action !== "cancel") play.enqueue({ client_id: newID(), channel_id: q.channel_id, prompt: said(q, answer), interrupt: true, plan: answer.action === "revise" || (answer.action === "answer" && q.read_only) });
      else play.drain(q.channel_id);
      return { ...q };
    },
  };
}

function said(q, a) {
  if (q.kind === "exit_plan") return a.action === "approve" ? "The plan is approved. Go ahead." : `Change the plan: ${a.text}`;
  return q.questions.map((x, i) => `${x.question} ${[...(a.choices?.[i] ?? []), a.texts?.[i] ?? ""].filter(Boolean).join(", ")}`).concat(a.text ?? []).join("\n");
}

export const QUESTIONS = [
  { question: "Which database should the tests use?", header: "Database", options: [
    { label: "SQLite", description: "In memory, quick", preview: "DATABASE_URL=sqlite://:memory:" },
    { label: "Postgres", description: "As in production", preview: "DATABASE_URL=postgres://localhost/test" }] },
  { question: "What else should run?", header: "Checks", multiSelect: true, options: [{ label: "Lint" }, { label: "Types" }, { label: "Benchmarks", description: "Takes four minutes" }] },
];

export const PLAN = "## Plan\n\n1. Read `handler.go` and find who holds the lock.\n2. Move the call out of the critical section.\n3. Add a test that fails without it.\n\nNothing else changes.";
