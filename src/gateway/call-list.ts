import type { Call } from './call.ts'

/**
 * The calls of one key that are in progress, in no order. This is an array and not a Set, because a Set that changes
 * often replaces its table again and again, and a table that has reached the old generation keeps its calls alive until
 * the next full collection.
 */
export class CallList {
  // A list begins with a call: V8 takes an empty array for one of numbers, and would discard the compiled code of all
  // calls when the first call was added.
  readonly #calls: Call[]

  constructor(first: Call) {
    first.listedAt = 0
    this.#calls = [first]
  }

  get size(): number {
    return this.#calls.length
  }

  add(call: Call): void {
    call.listedAt = this.#calls.length
    this.#calls.push(call)
  }

  /** Returns whether the call was in the list. */
  delete(call: Call): boolean {
    const { listedAt } = call
    if (this.#calls[listedAt] !== call) return false
    const last = this.#calls.pop()
    if (last !== undefined && last !== call) {
      this.#calls[listedAt] = last
      last.listedAt = listedAt
    }
    return true
  }

  /** Iterates over the calls that are in the list now, whatever is added or deleted meanwhile. */
  [Symbol.iterator](): Iterator<Call> {
    return [...this.#calls].values()
  }
}
