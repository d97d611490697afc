// Toasts: short messages that something was done, or could not be.

/** What can be done about it, such as taking it back. */
export type ToastAction = { label: string; run: () => unknown };
export type Toast = { id: number; kind: 'good' | 'bad'; text: string; action?: ToastAction | undefined };

let last = 0;

class Toasts {
  shown = $state<Toast[]>([]);
  /** How many dialogs show them, and not the page below. */
  covered = $state(0);

  /** With an action it stays longer, since somebody may have to get there first. */
  good(text: string, action?: ToastAction): void {
    this.#show('good', text, action ? 10_000 : 5_000, action);
  }

  /** Stays longer, since it has to be understood. */
  bad(text: string): void {
    this.#show('bad', text, 12_000);
  }

  dismiss(id: number): void {
    this.shown = this.shown.filter((toast) => toast.id !== id);
  }

  #show(kind: Toast['kind'], text: string, milliseconds: number, action?: ToastAction): void {
    const id = ++last;
    this.shown = [...this.shown.slice(-3), { id, kind, text, action }];
    this.#dismissLater(id, milliseconds);
  }

  /** Its time begins anew when somebody comes back to the page. */
  #dismissLater(id: number, milliseconds: number): void {
    setTimeout(() => {
      if (document.visibilityState === 'visible') return this.dismiss(id);
      const back = (): void => this.#dismissLater(id, milliseconds);
      document.addEventListener('visibilitychange', back, { once: true });
    }, milliseconds);
  }
}

export const toasts = new Toasts();
