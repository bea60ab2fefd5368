// Input methods on WebKit. xterm.js reads its hidden text field on timers, which
// fits Chromium's order of events; WebKit has others, and text arrives twice, late
// or in parts. Here the composition is ours: xterm.js does not see it, and each
// committed phrase is sent once. Chromium needs none of this.

export type ImeEngine = "webkitgtk" | "wkwebview";

export type ImeEvent =
  | { type: "keydown"; keyCode: number }
  | { type: "compositionstart" | "compositionupdate" | "compositionend"; data: string }
  | { type: "input"; inputType: string; data: string; isComposing: boolean }
  | { type: "blur" };

export type ImeStep = {
  stop: boolean; // xterm.js is not to see this event
  send: string; // for the program, before anything else that follows
  preedit: string; // what is being composed, to be drawn at the cursor
  clear: boolean; // empty the text field, so that nothing is read out of it later
};

/** A second report of a phrase comes within this time, if it comes. */
const ECHO_MS = 120;
const HANGUL = /^[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]+$/;

export class ImeGuard {
  private composing = false;
  private preedit = "";
  private inserted = ""; // by an input event inside the composition
  private committed = { text: "", at: -Infinity };
  private by229 = false; // the last key was the input method's
  private syllable = ""; // WKWebView: Hangul that is still being put together

  constructor(private engine: ImeEngine) {}

  feed(e: ImeEvent, now: number): ImeStep {
    return this.engine === "wkwebview" ? this.wkwebview(e) : this.webkitgtk(e, now);
  }

  private step(part: Partial<ImeStep> = {}): ImeStep {
    return { stop: false, send: "", clear: false, preedit: this.preedit, ...part };
  }

  private commit(text: string, now: number): ImeStep {
    this.preedit = "";
    if (text === "" || this.isEcho(text, now)) return this.step({ stop: true, clear: true });
    this.committed = { text, at: now };
    return this.step({ stop: true, send: text, clear: true });
  }

  private isEcho(text: string, now: number): boolean {
    return text === this.committed.text && now - this.committed.at <= ECHO_MS;
  }

  private webkitgtk(e: ImeEvent, now: number): ImeStep {
    switch (e.type) {
      case "keydown":
        this.by229 = e.keyCode === 229;
        // Every key may commit the same phrase anew.
        this.committed = { text: "", at: -Infinity };
        return this.step({ stop: this.by229 });
      case "compositionstart":
        this.composing = true;
        this.inserted = "";
        this.preedit = e.data;
        return this.step({ stop: true });
      case "compositionupdate":
        this.preedit = e.data;
        return this.step({ stop: true });
      case "compositionend": {
        this.composing = false;
        const text = e.data || this.inserted;
        this.inserted = "";
        return this.commit(text, now);
      }
      case "input":
        if (e.inputType === "insertFromComposition") {
          if (!this.composing) return this.commit(e.data, now);
          this.inserted = e.data;
          return this.step({ stop: true });
        }
        if (this.composing || e.isComposing || e.inputType === "insertCompositionText" || e.inputType === "deleteCompositionText") return this.step({ stop: true });
        if (e.inputType !== "insertText" || e.data === "") return this.step();
        // Punctuation and accented letters come without a composition.
        if (this.by229 || this.isEcho(e.data, now)) return this.commit(e.data, now);
        return this.step();
      case "blur":
        this.composing = false;
        this.preedit = this.inserted = "";
        return this.step();
    }
  }

  /** WKWebView composes Korean by replacing text in the field, with no composition events at all. */
  private wkwebview(e: ImeEvent): ImeStep {
    const flush = (part: Partial<ImeStep>): ImeStep => {
      const send = this.syllable;
      this.syllable = this.preedit = "";
      return this.step({ send, clear: send !== "", ...part });
    };
    switch (e.type) {
      case "keydown":
        return e.keyCode === 229 ? this.step({ stop: this.syllable !== "" }) : flush({});
      case "input":
        if (e.isComposing) return this.step();
        if (e.inputType === "insertReplacementText" && this.syllable !== "") {
          this.syllable = this.preedit = e.data;
          return this.step({ stop: true });
        }
        if (e.inputType === "insertText" && HANGUL.test(e.data)) {
          const send = this.syllable;
          this.syllable = this.preedit = e.data;
          return this.step({ stop: true, send });
        }
        return flush({});
      case "blur":
        return flush({});
      default:
        return flush({});
    }
  }
}
