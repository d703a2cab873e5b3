import { Type, type Static } from '../../http/index.ts'
import type { Confirmation } from '../../store/index.ts'

/** How many nodes have confirmed a change, how many were silent, and how long the confirmation took. */
export const Confirmed = Type.Object(
  { nodes: Type.Integer(), silent_nodes: Type.Integer(), took_ms: Type.Number() },
  { title: 'Confirmation' },
)

export function toConfirmed(confirmation: Confirmation): Static<typeof Confirmed> {
  const { nodes, silentNodes, tookMs } = confirmation
  return { nodes, silent_nodes: silentNodes, took_ms: tookMs }
}
