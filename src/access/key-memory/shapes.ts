import type { OrganizationId } from '../../ids.ts'
import type { KeyShape } from './principal.ts'

/** The shapes that records refer to, numbered from 1. A shape goes with its last record. */
export class Shapes {
  readonly #max: number
  readonly #byOrganization = new Map<OrganizationId, Map<string, number>>()
  // Undefined where the number is free, or its organization was forgotten while records still carry the number.
  readonly #shapes: (KeyShape | undefined)[] = [undefined]
  readonly #uses: number[] = [0]
  readonly #free: number[] = []
  #forgottenUses = 0

  constructor(max: number) {
    this.#max = max
  }

  /** How many records carry the number of a forgotten shape. */
  get forgottenUses(): number {
    return this.#forgottenUses
  }

  /** The shape with this text, if a record has it. */
  find(organizationId: OrganizationId, text: string): KeyShape | undefined {
    return this.at(this.#byOrganization.get(organizationId)?.get(text) ?? 0)
  }

  /** The shape with a number; undefined if it was forgotten, and with it every record that carries the number. */
  at(number: number): KeyShape | undefined {
    return this.#shapes[number]
  }

  /** The number of a shape for one more record; 0 if there is no room for another shape. */
  use(shape: KeyShape): number {
    const { organizationId, text } = shape
    let own = this.#byOrganization.get(organizationId)
    let number = own?.get(text)
    if (number === undefined) {
      number = this.#free.pop() ?? this.#shapes.length
      if (number > this.#max) return 0
      if (own === undefined) this.#byOrganization.set(organizationId, (own = new Map()))
      own.set(text, number)
      this.#shapes[number] = shape
      this.#uses[number] = 0
    }
    this.#uses[number] = (this.#uses[number] ?? 0) + 1
    return number
  }

  /** Takes back the use of a number by a record that was freed. */
  release(number: number): void {
    const left = (this.#uses[number] ?? 1) - 1
    this.#uses[number] = left
    const shape = this.#shapes[number]
    if (shape === undefined) this.#forgottenUses -= 1
    if (left > 0) return
    this.#free.push(number)
    if (shape === undefined) return
    this.#shapes[number] = undefined
    const own = this.#byOrganization.get(shape.organizationId)
    own?.delete(shape.text)
    if (own?.size === 0) this.#byOrganization.delete(shape.organizationId)
  }

  /** Forgets the shapes of an organization at once; its records are freed in their turn. */
  forget(organizationId: OrganizationId): void {
    for (const number of this.#byOrganization.get(organizationId)?.values() ?? []) {
      this.#shapes[number] = undefined
      this.#forgottenUses += this.#uses[number] ?? 0
    }
    this.#byOrganization.delete(organizationId)
  }
}
