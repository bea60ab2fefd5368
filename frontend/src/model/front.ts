// What is in front of the page: dialogs and menus. Each has the keyboard while it is there,
// and gives it back a moment after it has gone; what needs the keyboard waits until then.

export type Layer<Place> = { modal: boolean; came: Place; gone: boolean };

export class Front<Place> {
  private layers: Layer<Place>[] = [];
  private waiting: (() => void)[] = [];

  /** came: where the keyboard was before. */
  enter(modal: boolean, came: Place): Layer<Place> {
    const l = { modal, came, gone: false };
    this.layers.push(l);
    return l;
  }

  /** It is off the screen; the keyboard is not back yet. */
  leave(l: Layer<Place>) {
    l.gone = true;
  }

  /** Those that have gone give the keyboard back, the one that came first to where that was. */
  settle(giveBack: (came: Place) => void) {
    const gone = this.layers.filter((l) => l.gone);
    this.layers = this.layers.filter((l) => !l.gone);
    if (gone[0]) giveBack(gone[0].came);
    while (!this.busy) {
      const f = this.waiting.shift();
      if (!f) return;
      f();
    }
  }

  /** A dialog is on the screen. */
  get modal(): boolean {
    return this.layers.some((l) => l.modal && !l.gone);
  }

  /** Something else than the page has the keyboard, or is about to give it back. */
  get busy(): boolean {
    return this.layers.length > 0;
  }

  /** Does it now, or once the keyboard is back with the page. */
  after(f: () => void) {
    if (this.busy) this.waiting.push(f);
    else f();
  }
}
