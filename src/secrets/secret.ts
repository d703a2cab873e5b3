import { inspect } from 'node:util'

/** A secret in memory: prints and serialises as its hint, and is revealed at one line per use. */
export class Secret {
  readonly #value: string
  readonly hint: string

  constructor(value: string, hint: string) {
    this.#value = value
    this.hint = hint
  }

  /** The secret itself; every call of this is a line worth reviewing. */
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
