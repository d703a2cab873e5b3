import type { Clock } from '../../clock.ts'
import { createId } from '../../ids.ts'
import { mintWebhookSecret, webhookSecret, type Sealer, type Secret } from '../../secrets/index.ts'
import { deliveryWork, webhookSecrets, type Actor, type Store, type Tx } from '../../store/index.ts'
import type { SigningSecret } from './signatures.ts'

const usualOverlapMs = 24 * 3_600_000

/** A secret without its text. */
export interface SecretSummary {
  readonly id: string
  readonly hint: string
  readonly createdAt: number
  /** Milliseconds since 1970 at which an older secret stops signing. */
  readonly validUntil: number | undefined
}

/** An organization's signing secret. */
export interface WebhookSecrets {
  /** The valid ones, newest first; makes the first if there is none. */
  list(organizationId: string): Promise<SecretSummary[]>
  /** The current secret in full; recorded in the audit log. */
  reveal(organizationId: string, actor: Actor): Promise<Secret>
  /** A new secret; the old one signs beside it for the overlap (24 h), or not at all if it has leaked (0). */
  rotate(organizationId: string, actor: Actor, overlapMs?: number): Promise<Secret>
  /** Ends the overlap of older secrets now. */
  endOverlap(organizationId: string, actor: Actor): Promise<void>
  /** For signing. */
  open(organizationId: string): Promise<SigningSecret[]>
}

/** Opens the rules of webhook secrets. */
export function createWebhookSecrets(deps: {
  store: Store
  sealer: Sealer
  clock: Clock
}): WebhookSecrets {
  const { store, sealer, clock } = deps

  async function mint(tx: Tx, organizationId: string): Promise<Secret> {
    const id = createId('sgn', tx.now)
    const secret = mintWebhookSecret()
    const sealed = sealer.seal(secret.reveal(), webhookSecrets.sealContext(organizationId, id))
    await webhookSecrets.insert(tx, { id, organizationId, sealed, hint: secret.hint })
    return secret
  }

  async function ensure(organizationId: string) {
    const found = await webhookSecrets.listValid(store.background, organizationId, clock.now())
    if (found.length > 0) return found
    return await store.transaction(async (tx) => {
      // Locked: two who come first at the same time must not make two.
      await deliveryWork.lockOrganization(tx, organizationId)
      const inside = await webhookSecrets.listValid(tx, organizationId, tx.now)
      if (inside.length > 0) return inside
      await mint(tx, organizationId)
      return await webhookSecrets.listValid(tx, organizationId, tx.now)
    })
  }

  async function openAll(organizationId: string): Promise<SigningSecret[]> {
    return (await ensure(organizationId)).map((row) => ({
      secret: webhookSecret(
        sealer.open(row.sealed, webhookSecrets.sealContext(organizationId, row.id)),
      ),
      validUntil: row.validUntil,
    }))
  }

  return {
    open: openAll,
    async list(organizationId) {
      return (await ensure(organizationId)).map(({ id, hint, createdAt, validUntil }) => {
        return { id, hint, createdAt, validUntil }
      })
    },
    async reveal(organizationId, actor) {
      const [current] = await openAll(organizationId)
      if (!current) throw new Error('a webhook secret was made and is not there')
      await store.transaction(async (tx) => {
        note(tx, organizationId, actor, 'webhook.secret_revealed', { hint: current.secret.hint })
      })
      return current.secret
    },
    async rotate(organizationId, actor, overlapMs = usualOverlapMs) {
      return await store.transaction(async (tx) => {
        await deliveryWork.lockOrganization(tx, organizationId)
        await webhookSecrets.end(tx, organizationId, tx.now + overlapMs)
        const secret = await mint(tx, organizationId)
        const detail = { hint: secret.hint, overlap_seconds: overlapMs / 1000 }
        note(tx, organizationId, actor, 'webhook.secret_rotated', detail)
        tx.changed({ kind: 'endpoint', organizationId, subjectId: organizationId })
        return secret
      })
    },
    async endOverlap(organizationId, actor) {
      await store.transaction(async (tx) => {
        await deliveryWork.lockOrganization(tx, organizationId)
        await webhookSecrets.endOlder(tx, organizationId, tx.now)
        note(tx, organizationId, actor, 'webhook.secret_overlap_ended', {})
        tx.changed({ kind: 'endpoint', organizationId, subjectId: organizationId })
      })
    },
  }
}

function note(
  tx: Tx,
  organizationId: string,
  actor: Actor,
  action: string,
  detail: Record<string, unknown>,
): void {
  const subject = { kind: 'organization', id: organizationId }
  tx.audit({ organizationId, actor, action, subject, detail })
}
