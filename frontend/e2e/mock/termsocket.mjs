// The server's side of one terminal socket, as backend/api/terminalsocket.go speaks it.
const FRAME = 64 * 1024;

export function attachViewer(terms, ws) {
  let session = null;
  let viewer = null;
  const say = (m) => ws.send(JSON.stringify(m));
  const error = (error_code, message, remedy, request) => say({ type: "error", error_code, message, remedy, request });
  const gone = (request) => error("session_failed", "There is no terminal session with that id.", "It may have been closed; open a new terminal.", request);

  function detach() {
    if (!session) return;
    session.viewers.delete(viewer);
    session.wake();
    session = viewer = null;
  }

  async function attach(kind, s, acks) {
    detach();
    session = s;
    const v = {
      sent: 0, acked: 0, hidden: false, held: [], ready: false, say,
      behind: () => (acks && !v.hidden ? v.sent - v.acked : 0),
      give(bytes) {
        if (v.hidden) return;
        if (!v.ready) return void v.held.push(bytes);
        for (let i = 0; i < bytes.length; i += FRAME) ws.send(bytes.subarray(i, i + FRAME));
        v.sent += bytes.length;
      },
      resized() {
        if (v.ready && !v.hidden) say({ type: "resized", cols: s.cols, rows: s.rows, offset: s.offset });
      },
      ended() {
        if (v.ready) say({ type: "closed", session_id: s.id, exit_code: s.exit.code, signal: s.exit.signal, message: s.exit.reason });
      },
      /** Sends a snapshot with all earlier output. Output that comes meanwhile follows it. */
      async snapshot(type, more) {
        v.ready = false;
        v.held = [];
        const offset = s.offset;
        const shot = await s.snapshot();
        if (viewer !== v) return;
        say({ type, cols: s.cols, rows: s.rows, offset, snapshot: shot.length, ...more });
        v.ready = true;
        v.give(shot);
        for (const b of v.held.splice(0)) v.give(b);
      },
    };
    viewer = v;
    s.viewers.add(v);
    await v.snapshot(kind, { session_id: s.id, title: s.title, state: s.state, target: s.spec.target || "agent", channel_id: s.spec.channel_id });
    if (s.state === "ended") v.ended();
  }

  async function follow(m) {
    terms.log.push(m);
    switch (m.type) {
      case "create":
        await terms.held;
        if (terms.failNext) {
          const f = terms.failNext;
          terms.failNext = null;
          return error(f.error_code, f.message, f.remedy, "create");
        }
        return attach("created", terms.create(m), m.acks);
      case "attach": {
        const s = terms.sessions.get(m.session_id);
        if (!s) return gone("attach");
        return attach("attached", s, m.acks);
      }
      case "detach":
        return detach();
    }
    if (!session) return m.type === "ack" ? undefined : error("no_session", "No session is attached here.", "Attach to a session or create one first.", m.type);
    switch (m.type) {
      case "input":
        return typed(Buffer.from(m.data, "base64"));
      case "resize":
        if (!m.rows || !m.cols) return error("missing_field", "The field is missing or zero.", "", "resize");
        return session.resize(Math.min(m.cols, 1000), Math.min(m.rows, 500));
      case "ack":
        viewer.acked = m.offset;
        return session.wake();
      case "show":
        viewer.hidden = !m.visible;
        session.wake();
        if (m.visible) await viewer.snapshot("resync", {});
        return undefined;
      case "fence": // marks a place in the client's messages; needs no answer
        return undefined;
      case "colors":
        session.colors = m.colors;
        return undefined;
      case "resync":
        return viewer.snapshot("resync", {});
      case "clear":
        return session.clear();
      case "record":
        return session.record(m.on);
      case "close":
      case "stop": {
        const s = m.session_id ? terms.sessions.get(m.session_id) : session;
        if (!s) return gone(m.type);
        const id = s.id;
        detach();
        terms.remove(s);
        return say({ type: "stopped", session_id: id });
      }
      default:
        return error("unknown_message", "That is no message of this protocol.", "", "");
    }
  }

  function typed(bytes) {
    if (session.state !== "away") return session.type(bytes);
    return error("conflict", "What was typed was not sent: the container of this terminal cannot be reached now.", "Loop tries again by itself; type it again then.", "input");
  }

  ws.on("message", (data, binary) => {
    if (binary) return session ? typed(Buffer.from(data)) : error("no_session", "No session is attached here.", "", "input");
    let m;
    try {
      m = JSON.parse(String(data));
    } catch {
      return error("invalid_json", "The message is not a JSON object.", "", "");
    }
    return void follow(m);
  });
  ws.on("close", detach);
}
