// Short news that nobody has to answer: something was done, or could not be.

/** What can be done about it, such as taking it back. */
export type Remedy = { label: string; run: () => unknown };
export type Toast = { id: number; kind: 'good' | 'bad'; text: string; remedy?: Remedy | undefined };

let last = 0;

class Toasts {
  shown = $state<Toast[]>([]);

  /** With a remedy it stays longer, since somebody may have to get there first. */
  good(text: string, remedy?: Remedy): void {
    this.#show('good', text, remedy ? 10_000 : 5_000, remedy);
  }

  /** Stays longer, since it has to be understood. */
  bad(text: string): void {
    this.#show('bad', text, 12_000);
  }

  dismiss(id: number): void {
    this.shown = this.shown.filter((toast) => toast.id !== id);
  }

  #show(kind: Toast['kind'], text: string, milliseconds: number, remedy?: Remedy): void {
    const id = ++last;
    this.shown = [...this.shown.slice(-3), { id, kind, text, remedy }];
    setTimeout(() => this.dismiss(id), milliseconds);
  }
}

export const toasts = new Toasts();
