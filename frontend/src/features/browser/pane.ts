// One pane on a channel's browser: what its buttons and keys do.
import { sendFile } from "../../api/browser-files";
import type { BrowserState, BrowserTarget, BrowserView } from "../../api/browser-messages";
import { firstView, MAX_PASTE } from "../../api/browser-messages";
import { batonStore } from "../../model/browser/baton";
import { sawState } from "../../model/browser/reference";
import { answered, asked, Recall } from "../../model/browser/evaluated";
import type { DeviceID } from "../../model/browser/place";
import { viewOf, zoomStep } from "../../model/browser/place";
import { toast } from "../../model/stores";
import { problemText } from "../../session/bring";
import { session } from "../../session/session";
import { readText } from "../../shell/clipboard";
import { PaneLink } from "./link";
import type { Drawer } from "./shown";
import { pageOf } from "./shown";

const NARROW = 560;

export class BrowserPane extends PaneLink {
  readonly recall = new Recall();
  private size = { width: firstView.width, height: firstView.height };
  private keyboard: HTMLElement | null = null;
  private read = 0; // number of the last line that was cleared away
  private heard = 0; // and of the last change of a request
  private aim: { x: number; y: number } | null = null; // where to look for an element, while a look is under way
  private aiming = false;

  /** Evaluates an expression in the page; the console has both. */
  async evaluate(expression: string) {
    const id = this.nextAct++;
    this.recall.add(expression);
    this.store.setState((s) => ({ evaluated: asked(s.evaluated, { id, time: Date.now(), after: s.lines.at(-1)?.seq ?? 0, expression }) }));
    const res = await this.ask("evaluate", { expression });
    this.store.setState((s) => ({ evaluated: answered(s.evaluated, id, res.error || res.result, res.error !== "") }));
  }

  /** Looks at the element at a place. Places that come while a look is under way wait, and the newest counts. */
  async look(at: { x: number; y: number }): Promise<BrowserTarget | null> {
    this.aim = at;
    if (this.aiming) return this.store.getState().picked;
    this.aiming = true;
    while (this.aim) {
      const to: { x: number; y: number } = this.aim;
      this.aim = null;
      const { target } = await this.ask("element_at", to);
      if (this.store.getState().picking && target) this.store.setState({ picked: target });
    }
    this.aiming = false;
    return this.store.getState().picked;
  }

  /** Goes from the picked element to the one around it, or the first in it. */
  async climb(to: "parent_of" | "child_of") {
    const { picked } = this.store.getState();
    if (!picked) return;
    const { target, error } = await this.ask(to, { ref: picked.ref });
    if (target && this.store.getState().picking) this.store.setState({ picked: target });
    if (error) this.store.setState({ error });
  }

  /** Gives the page the files it asked for; none is a cancel. */
  async giveFiles(files: File[]) {
    const paths: string[] = [];
    try {
      const at = files.length > 0 ? await session().endpoint() : null;
      for (const [i, file] of files.entries()) {
        this.store.setState({ sending: `Sending ${file.name}, ${i + 1} of ${files.length}` });
        if (at) paths.push(await sendFile(at, this.channelId, file));
      }
      await this.act("choose_files", { paths });
    } catch (err) {
      this.store.setState({ error: problemText(err) });
    } finally {
      this.store.setState({ sending: "" });
    }
  }

  /** Types what is in the clipboard. */
  async paste() {
    const text = await readText();
    if (text) this.pasteText(text);
    else toast(text === null ? "The clipboard could not be read. Paste with the keyboard." : "The clipboard has no text.");
  }

  /** Pastes a text into the page. */
  pasteText(text: string) {
    if (new TextEncoder().encode(text).length > MAX_PASTE) toast("The text is longer than 1 MiB. Paste it in parts, or give it to the page as a file.");
    else this.input({ kind: "paste", text });
  }

  protected arrived(state: BrowserState) {
    const was = this.store.getState();
    const running = state.phase === "running";
    const page = pageOf(state);
    this.store.setState({
      state, ...(running ? {} : { picking: false, picked: null, finding: false }), ...(state.deed && state.deed.at !== was.state?.deed?.at ? { deedPage: page } : {}),
      ...(page === pageOf(was.state) ? {} : { picked: null }),
    });
    sawState(this.channelId, state);
    batonStore.setState({ [this.channelId]: { person: state.driver === "person", waits: state.waitingMs > 0, give: () => this.send({ type: "give" }) } });
    const tab = (s: BrowserState | null) => s?.tabs.find((t) => t.active)?.target_id;
    if (was.state && (tab(was.state) !== tab(state) || (running && was.state.phase !== "running"))) {
      this.read = this.heard = 0;
      this.store.setState({ lines: [], requests: [], evaluated: [] }); // of another page
      this.follow();
    }
  }

  protected left() {
    batonStore.setState({ [this.channelId]: undefined });
    this.store.setState({ link: "connecting", painted: false, picking: false, picked: null, finding: false, resetting: false });
  }

  /** The pane has another size. */
  resized(width: number, height: number) {
    if (width < 1 || height < 1) return;
    this.size = { width, height };
    this.store.setState({ narrow: width < NARROW });
    if (this.store.getState().device === "fit") this.layOut({});
  }

  choose(device: DeviceID) {
    this.store.setState({ device });
    this.layOut({});
  }

  /** Lays the page out anew, with a part of the view changed. */
  layOut(part: Partial<BrowserView>) {
    const now = this.store.getState();
    const view = viewOf(now.device, this.size, window.devicePixelRatio, { ...this.view, ...part });
    const same = (other: BrowserView | undefined) => !other || JSON.stringify(view) === JSON.stringify(other);
    if (same(this.view) && same(now.state?.view)) return; // an agent may have resized the window
    this.view = view;
    this.send({ type: "view", view });
  }

  zoom(by: 1 | -1 | 0) {
    this.layOut({ zoom: by === 0 ? 1 : zoomStep(this.view.zoom, by) });
  }

  /** Opens a drawer, or closes it with "". Loop sends what comes to the open one. */
  show(drawer: Drawer) {
    this.store.setState({ drawer });
    this.follow();
  }

  protected follow() {
    const { drawer, lines, requests } = this.store.getState();
    if (drawer === "console") this.send({ type: "drawer", console_after: lines.at(-1)?.seq ?? this.read });
    else if (drawer === "network") this.send({ type: "drawer", network_after: Math.max(this.heard, ...requests.map((r) => r.rev)) });
    else this.send({ type: "drawer" });
  }

  clear() {
    const { drawer, lines, requests } = this.store.getState();
    if (drawer === "network") {
      this.heard = Math.max(this.heard, ...requests.map((r) => r.rev));
      this.store.setState({ requests: [] });
    } else {
      this.read = lines.at(-1)?.seq ?? this.read;
      this.store.setState({ lines: [], evaluated: [] });
    }
  }

  /** The element that takes the page's keys. */
  know(keyboard: HTMLElement | null) {
    this.keyboard = keyboard;
  }

  focusPage() {
    this.keyboard?.focus();
  }

  /** Takes the browser over, or gives it back. */
  baton() {
    this.send({ type: this.store.getState().state?.driver === "person" ? "give" : "take" });
  }

  /** Begins to find or pick, or ends it. The keys of picking are the page's. */
  toggle(part: "finding" | "picking") {
    if (this.store.getState().state?.phase !== "running") return;
    this.store.setState((s) => ({ [part]: !s[part], picked: null }));
    if (part === "picking") this.focusPage();
  }

  /** Answers the popup of the page; without an answer it is closed. */
  answerPopup(id: number, answer: { index?: number; value?: string } = {}) {
    this.store.setState({ closed: id });
    void this.act("answer_popup", { id, ...answer });
  }

  /** The picture that the pane shows, for the prompt. */
  picture(): Promise<Blob | null> {
    return new Promise((resolve) => {
      if (this.canvas && this.store.getState().painted) this.canvas.toBlob(resolve, "image/png");
      else resolve(null);
    });
  }
}

const panes = new Map<string, BrowserPane>();

/** The pane of a channel. It keeps its device and drawers while its panel is closed. */
export function paneOf(channelId: string): BrowserPane {
  let p = panes.get(channelId);
  if (!p) panes.set(channelId, (p = new BrowserPane(channelId)));
  return p;
}
