// Input methods on WebKit. xterm.js reads its hidden text field on timers. That fits
// Chromium's order of events. WebKit has other orders, in which text would arrive twice,
// late or in parts. So this guard handles the composition: xterm.js does not see it, and
// each committed phrase is sent once. Chromium does not need the guard.

export type ImeEngine = "webkitgtk" | "wkwebview";

export type ImeEvent =
  | { type: "keydown"; keyCode: number }
  | { type: "compositionstart" | "compositionupdate" | "compositionend"; data: string }
  | { type: "input"; inputType: string; data: string; isComposing: boolean }
  | { type: "blur" };

export type ImeStep = {
  stop: boolean; // xterm.js must not see this event
  send: string; // text for the program, to be sent before any later text
  preedit: string; // the unfinished composition, to be drawn at the cursor
  clear: boolean; // the text field must be emptied, so that nobody reads its text later
};

/** The longest time until a second report of the same phrase. */
const ECHO_MS = 120;
const HANGUL = /^[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff]+$/;

export class ImeGuard {
  private composing = false;
  private preedit = "";
  private inserted = ""; // text that input events inserted during the composition
  private committed = { text: "", at: -Infinity };
  private by229 = false; // the input method handled the last key (its code is 229)
  private syllable = ""; // on WKWebView, the unfinished Hangul syllable

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
        // A new key may commit the same phrase again, and then it counts.
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
        // Punctuation and accented letters come without events of a composition.
        if (this.by229 || this.isEcho(e.data, now)) return this.commit(e.data, now);
        return this.step();
      case "blur":
        this.composing = false;
        this.preedit = this.inserted = "";
        return this.step();
    }
  }

  /** Handles WKWebView, which composes Korean by replacing text in the field, without composition events. */
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
