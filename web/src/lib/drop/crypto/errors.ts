// What can be wrong with what the other side, or the server between, has sent: each has a type to act upon.
//
// Untrusted
// ├── Tampered        something does not open, or says what it must not: somebody on the way changed it
// ├── BrokenOff       a stream ended before its last record: ask again from where it ended
// ├── BadShare        a public value that makes every secret zero: a wrong guess, and no honest one
// ├── WrongTag        the guest does not know the code (seen by the door)
// ├── WrongDoor       who answered does not know the code (seen by the guest)
// ├── UnknownSuite    one of the two programs is too old
// └── Unreadable      what was typed or opened is no invitation
//
// `kind` is for what goes through a worker's messages, where classes are lost.

export class Untrusted extends Error {
  readonly kind: string = 'untrusted';
}

export class Tampered extends Untrusted {
  override readonly kind = 'tampered';
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
