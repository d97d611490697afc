// A promise that is resolved from outside.
export class Deferred<Value> {
  resolve!: (value: Value) => void;
  reject!: (reason: unknown) => void;
  readonly promise = new Promise<Value>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });

  constructor() {
    // Whoever awaits it sees the failure; if nobody does, that is no error.
    this.promise.catch(() => undefined);
  }
}
