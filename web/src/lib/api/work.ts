// A proof of work: the way on for whoever is behind an address from which others have guessed too often.
import { Sha256 } from './sha256';

// So long the page cannot answer its reader.
const AT_ONCE_MS = 20;

/** What the header `Satchel-Work` has to say. */
export async function solve(challenge: string, bits: number): Promise<string> {
  const encoder = new TextEncoder();
  let rested = performance.now();
  for (let number = 0; ; number++) {
    const work = `${challenge}.${number}`;
    if (Math.clz32(new Sha256().update(encoder.encode(work)).firstWord()) >= bits) return work;
    if (number % 64 || performance.now() - rested < AT_ONCE_MS) continue;
    await new Promise((resolve) => setTimeout(resolve));
    rested = performance.now();
  }
}
