// SHA-256, piece by piece: WebCrypto takes only whole inputs, and only over https.

const BLOCK = 64;

// The fractions of the cube roots, and below of the square roots, of the first primes (FIPS 180-4).
const PRIMES = primes(64);
const ROUND = Int32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)));
const START = Int32Array.from(PRIMES.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));

export class Sha256 {
  #state = START.slice();
  #words = new Int32Array(BLOCK);
  /** What is left over until a block is full. */
  #rest = new Uint8Array(BLOCK);
  #resting = 0;
  #length = 0;

  update(bytes: Uint8Array): this {
    this.#length += bytes.length;
    let at = 0;
    if (this.#resting) {
      at = Math.min(BLOCK - this.#resting, bytes.length);
      this.#rest.set(bytes.subarray(0, at), this.#resting);
      this.#resting += at;
      if (this.#resting < BLOCK) return this;
      this.#mix(this.#rest, 0);
      this.#resting = 0;
    }
    for (; at + BLOCK <= bytes.length; at += BLOCK) this.#mix(bytes, at);
    this.#rest.set(bytes.subarray(at));
    this.#resting = bytes.length - at;
    return this;
  }

  /** The digest in hexadecimal; after that no more bytes can come. */
  hex(): string {
    this.#finish();
    return Array.from(this.#state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }

  /** The first 32 bits of the digest as a number; after that no more bytes can come. */
  firstWord(): number {
    this.#finish();
    return (this.#state[0] as number) >>> 0;
  }

  #finish(): void {
    const bits = this.#length * 8;
    const end = new Uint8Array(this.#resting < 56 ? BLOCK - this.#resting : 2 * BLOCK - this.#resting);
    end[0] = 0x80;
    const view = new DataView(end.buffer);
    view.setUint32(end.length - 8, Math.floor(bits / 2 ** 32));
    view.setUint32(end.length - 4, bits >>> 0);
    this.update(end);
  }

  #mix(bytes: Uint8Array, from: number): void {
    const [words, state] = [this.#words, this.#state];
    for (let i = 0, at = from; i < 16; i++, at += 4) {
      words[i] =
        ((bytes[at] as number) << 24) |
        ((bytes[at + 1] as number) << 16) |
        ((bytes[at + 2] as number) << 8) |
        (bytes[at + 3] as number);
    }
    for (let i = 16; i < 64; i++) {
      const [early, late] = [words[i - 15] as number, words[i - 2] as number];
      words[i] =
        ((words[i - 16] as number) + lowerSigma0(early) + (words[i - 7] as number) + lowerSigma1(late)) | 0;
    }
    // One by one: taking them out of the array in one go took twice as long.
    let a = state[0] as number;
    let b = state[1] as number;
    let c = state[2] as number;
    let d = state[3] as number;
    let e = state[4] as number;
    let f = state[5] as number;
    let g = state[6] as number;
    let h = state[7] as number;
    for (let i = 0; i < 64; i++) {
      const chosen = (e & f) ^ (~e & g);
      const most = (a & b) ^ (a & c) ^ (b & c);
      const one = (h + upperSigma1(e) + chosen + (ROUND[i] as number) + (words[i] as number)) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + one) | 0;
      d = c;
      c = b;
      b = a;
      a = (one + upperSigma0(b) + most) | 0;
    }
    state[0] = (state[0] as number) + a;
    state[1] = (state[1] as number) + b;
    state[2] = (state[2] as number) + c;
    state[3] = (state[3] as number) + d;
    state[4] = (state[4] as number) + e;
    state[5] = (state[5] as number) + f;
    state[6] = (state[6] as number) + g;
    state[7] = (state[7] as number) + h;
  }
}

// Named as in the standard.
function lowerSigma0(x: number): number {
  return ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
}

function lowerSigma1(x: number): number {
  return ((x >>> 17) | (x << 15)) ^ ((x >>> 19) | (x << 13)) ^ (x >>> 10);
}

function upperSigma0(x: number): number {
  return ((x >>> 2) | (x << 30)) ^ ((x >>> 13) | (x << 19)) ^ ((x >>> 22) | (x << 10));
}

function upperSigma1(x: number): number {
  return ((x >>> 6) | (x << 26)) ^ ((x >>> 11) | (x << 21)) ^ ((x >>> 25) | (x << 7));
}

function fraction(root: number): number {
  return ((root - Math.floor(root)) * 2 ** 32) | 0;
}

function primes(count: number): number[] {
  const found: number[] = [];
  for (let each = 2; found.length < count; each++) {
    if (found.every((prime) => each % prime)) found.push(each);
  }
  return found;
}
