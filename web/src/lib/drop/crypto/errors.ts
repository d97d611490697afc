// Errors in what the other side or the server has sent, with a type for each case that callers handle.
//
// Untrusted
// ├── Tampered        something does not decrypt, or is not valid: it was changed on the way
// ├── NotAsOffered    the owner sends something else than what was announced
// ├── BrokenOff       a stream ended before its last record: ask again from where it ended
// ├── BadShare        a public value of low order, which no honest program sends: a wrong guess
// ├── WrongTag        the guest does not know the code (seen by the door)
// ├── WrongDoor       who answered does not know the code (seen by the guest)
// ├── UnknownSuite    one of the two programs is too old
// └── Unreadable      what was typed or opened is no invitation
//
// `kind` tells errors apart after a worker's message, where classes are lost.

export class Untrusted extends Error {
  readonly kind: string = 'untrusted';
}

export class Tampered extends Untrusted {
  override readonly kind = 'tampered';
}

export class NotAsOffered extends Untrusted {
  override readonly kind = 'not-as-offered';
}

export class BrokenOff extends Untrusted {
  override readonly kind = 'broken-off';
}

export class BadShare extends Untrusted {
  override readonly kind = 'bad-share';
}

export class WrongTag extends Untrusted {
  override readonly kind = 'wrong-tag';
}

export class WrongDoor extends Untrusted {
  override readonly kind = 'wrong-door';
}

export class UnknownSuite extends Untrusted {
  override readonly kind = 'unknown-suite';
}

export class Unreadable extends Untrusted {
  override readonly kind = 'unreadable';
}
