import type { OrganizationId } from '../../ids.ts'
import type { KeyShape } from './principal.ts'

const letGoAtOnce = 64

/** The shapes of one organization, which are forgotten together. */
interface OwnShapes {
  readonly numbers: Map<string, number>
  /** The number of records that have one of these shapes; no longer updated once the shapes are forgotten. */
  uses: number
  isForgotten: boolean
}

/** The shapes that records refer to, numbered from 1. */
export class Shapes {
  readonly #max: number
  readonly #byOrganization = new Map<OrganizationId, OwnShapes>()
  readonly #shapes: (KeyShape | undefined)[] = [undefined]
  // The group of shapes to which each number belongs; undefined if the number is free. A forgotten group stays here
  // while records still carry its numbers.
  readonly #owners: (OwnShapes | undefined)[] = [undefined]
  readonly #uses: number[] = [0]
  readonly #free: number[] = []
  /** Forgotten shapes that are still in memory. */
  readonly #leaving: { readonly own: OwnShapes; readonly numbers: Iterator<number> }[] = []
  #forgottenUses = 0

  constructor(max: number) {
    this.#max = max
  }

  /** How many records carry the number of a forgotten shape. */
  get forgottenUses(): number {
    return this.#forgottenUses
  }

  /** Returns the shape with this text, if a record has it. */
  find(organizationId: OrganizationId, text: string): KeyShape | undefined {
    return this.at(this.#byOrganization.get(organizationId)?.numbers.get(text) ?? 0)
  }

  /**
   * Returns the shape that has this number; undefined if the number is free or the shape is forgotten. Records that
   * carry the number of a forgotten shape count as forgotten too.
   */
  at(number: number): KeyShape | undefined {
    return this.#owners[number]?.isForgotten === false ? this.#shapes[number] : undefined
  }

  /** Counts one more record of a shape and returns the shape's number; 0 if there is no room for a new shape. */
  use(shape: KeyShape): number {
    this.#letGo()
    const { organizationId, text } = shape
    const own = this.#byOrganization.get(organizationId) ?? noShapes()
    let number = own.numbers.get(text)
    if (number === undefined) {
      number = this.#free.pop() ?? this.#shapes.length
      if (number > this.#max) return 0
      this.#byOrganization.set(organizationId, own)
      own.numbers.set(text, number)
      this.#shapes[number] = shape
      this.#owners[number] = own
      this.#uses[number] = 0
    }
    this.#uses[number] = (this.#uses[number] ?? 0) + 1
    own.uses += 1
    return number
  }

  /** Counts one record fewer for this number; frees the number once no record carries it. */
  release(number: number): void {
    const own = this.#owners[number]
    if (own === undefined) return
    const left = (this.#uses[number] ?? 1) - 1
    this.#uses[number] = left
    if (own.isForgotten) this.#forgottenUses -= 1
    else own.uses -= 1
    if (left > 0) return
    const shape = this.#shapes[number]
    this.#free.push(number)
    this.#owners[number] = undefined
    this.#shapes[number] = undefined
    if (own.isForgotten || shape === undefined) return
    own.numbers.delete(shape.text)
    if (own.numbers.size === 0) this.#byOrganization.delete(shape.organizationId)
  }

  /** Forgets the shapes of an organization at once; its records are freed later. */
  forget(organizationId: OrganizationId): void {
    const own = this.#byOrganization.get(organizationId)
    if (own === undefined) return
    own.isForgotten = true
    this.#forgottenUses += own.uses
    this.#byOrganization.delete(organizationId)
    this.#leaving.push({ own, numbers: own.numbers.values() })
  }

  /**
   * Removes a few forgotten shapes from memory at a time. Removing half a million at once would delay every call by
   * tens of milliseconds.
   */
  #letGo(): void {
    const [leaving] = this.#leaving
    if (leaving === undefined) return
    for (let steps = 0; steps < letGoAtOnce; steps++) {
      const { value: number, done } = leaving.numbers.next()
      if (done === true) {
        this.#leaving.shift()
        return
      }
      // By now, the number may have been given to a shape of another organization.
      if (this.#owners[number] === leaving.own) this.#shapes[number] = undefined
    }
  }
}

function noShapes(): OwnShapes {
  return { numbers: new Map(), uses: 0, isForgotten: false }
}
