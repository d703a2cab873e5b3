import { inspect } from 'node:util'

/** A secret in memory: prints and serializes as its hint, and is revealed only by an explicit call. */
export class Secret {
  readonly #value: string
  readonly hint: string

  constructor(value: string, hint: string) {
    this.#value = value
    this.hint = hint
  }

  /** Returns the secret itself; every call to this method deserves a review. */
  reveal(): string {
    return this.#value
  }

  toString(): string {
    return this.hint
  }

  toJSON(): string {
    return this.hint
  }

  [inspect.custom](): string {
    return `Secret(${this.hint})`
  }
}
