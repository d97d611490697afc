// A promise that somebody else keeps.
export class Deferred<Value> {
  resolve!: (value: Value) => void;
  reject!: (reason: unknown) => void;
  readonly promise = new Promise<Value>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });

  constructor() {
    // Whoever waits is told; that nobody does is no fault.
    this.promise.catch(() => undefined);
  }
}
