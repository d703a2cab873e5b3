import type { Confirmation } from '../../store/index.ts'

/** The API's report of how many nodes have confirmed a change, how many were silent, and how long that took. */
export interface Confirmed {
  readonly nodes: number
  readonly silent_nodes: number
  readonly took_ms: number
}

export function toConfirmation(one: Confirmed): Confirmation {
  return { nodes: one.nodes, silentNodes: one.silent_nodes, tookMs: one.took_ms }
}
