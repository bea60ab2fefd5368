// The layers in front of the page: dialogs and menus. A layer has the keyboard while it is
// on the screen, and gives it back a moment later. A call that needs the keyboard waits until then.

export type Layer<Place> = { modal: boolean; came: Place; gone: boolean };

export class Front<Place> {
  private layers: Layer<Place>[] = [];
  private waiting: (() => void)[] = [];

  /** Puts a layer in front. came: the place of the keyboard before. */
  enter(modal: boolean, came: Place): Layer<Place> {
    const l = { modal, came, gone: false };
    this.layers.push(l);
    return l;
  }

  /** Marks a layer as off the screen. The keyboard is not back yet. */
  leave(l: Layer<Place>) {
    l.gone = true;
  }

  /** Drops layers that are off the screen. The keyboard goes back to its place before the first of them. */
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

  /** Whether a dialog is on the screen. */
  get modal(): boolean {
    return this.layers.some((l) => l.modal && !l.gone);
  }

  /** Whether a layer has the keyboard, or is about to give it back. */
  get busy(): boolean {
    return this.layers.length > 0;
  }

  /** Calls f now, or once the page has the keyboard back. */
  after(f: () => void) {
    if (this.busy) this.waiting.push(f);
    else f();
  }
}
