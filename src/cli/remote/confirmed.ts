import type { Confirmation } from '../../store/index.ts'

/** The API's report of when a change reached every node. */
export interface Confirmed {
  readonly nodes: number
  readonly silent_nodes: number
  readonly took_ms: number
}

export function toConfirmation(one: Confirmed): Confirmation {
  return { nodes: one.nodes, silentNodes: one.silent_nodes, tookMs: one.took_ms }
}
