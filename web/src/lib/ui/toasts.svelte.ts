// Short news that nobody has to answer: something was done, or could not be.

export type Toast = { id: number; kind: 'good' | 'bad'; text: string };

let last = 0;

class Toasts {
  shown = $state<Toast[]>([]);

  good(text: string): void {
    this.#show('good', text, 5_000);
  }

  /** Stays longer, since it has to be understood. */
  bad(text: string): void {
    this.#show('bad', text, 12_000);
  }

  dismiss(id: number): void {
    this.shown = this.shown.filter((toast) => toast.id !== id);
  }

  #show(kind: Toast['kind'], text: string, milliseconds: number): void {
    const id = ++last;
    this.shown = [...this.shown.slice(-3), { id, kind, text }];
    setTimeout(() => this.dismiss(id), milliseconds);
  }
}

export const toasts = new Toasts();
