import type { Key } from '../../api/shapes.ts'
import { keysWords as w } from '../../../words/en/keys.ts'
import { Badge } from '../../parts/Surface.tsx'

const tones = { active: 'pass', revoked: 'refuse', expired: 'plain', suspended: 'caution' } as const

export function KeyState({ state }: { readonly state: Key['state'] }) {
  return <Badge tone={tones[state]}>{w.states[state]}</Badge>
}

export function grantsText(key: Pick<Key, 'grants'>): string {
  if (key.grants === undefined) return w.allTargets
  return key.grants
    .map((grant) =>
      grant.methods === undefined ? grant.target : `${grant.target} (${grant.methods.join(', ')})`,
    )
    .join(', ')
}

/** The header field that carries a secret in this scheme. */
export function keyHeader(scheme: Key['scheme'], secret: string): string {
  return scheme === 'bearer' ? `Authorization: Bearer ${secret}` : `X-API-Key: ${secret}`
}
