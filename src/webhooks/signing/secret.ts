import type { Clock } from '../../clock.ts'
import { Problem } from '../../errors.ts'
import { createId } from '../../ids.ts'
import { mintWebhookSecret, webhookSecret, type Sealer, type Secret } from '../../secrets/index.ts'
import {
  organizationHeads,
  webhookSecrets,
  type Actor,
  type Store,
  type Tx,
  type AuditVerb,
} from '../../store/index.ts'
import type { SigningSecret } from './signatures.ts'
import { dayMs } from '../../units.ts'

const usualOverlapMs = dayMs
// Each secret signs every delivery and so lengthens a header; receivers often limit headers to 8 KiB.
const maxSigning = 10

/** A secret without its text. */
export interface SecretSummary {
  readonly id: string
  readonly hint: string
  readonly createdAt: number
  /** Milliseconds since 1970 at which an older secret stops signing. */
  readonly validUntil: number | undefined
}

export class WebhookSecrets {
  readonly #deps: { readonly store: Store; readonly sealer: Sealer; readonly clock: Clock }

  constructor(deps: { readonly store: Store; readonly sealer: Sealer; readonly clock: Clock }) {
    this.#deps = deps
  }

  /** Lists the valid secrets: the current one, then the older ones, newest first. Creates a secret if there is none. */
  async list(organizationId: string): Promise<SecretSummary[]> {
    return (await this.#ensure(organizationId)).map(({ id, hint, createdAt, validUntil }) => {
      return { id, hint, createdAt, validUntil }
    })
  }

  async open(organizationId: string): Promise<SigningSecret[]> {
    return (await this.#ensure(organizationId)).map((row) => ({
      secret: webhookSecret(
        this.#deps.sealer.open(row.sealed, webhookSecrets.sealContext(organizationId, row.id)),
      ),
      validUntil: row.validUntil,
    }))
  }

  /** Returns the current secret in full, and records in the audit log that it was revealed. */
  async reveal(organizationId: string, actor: Actor): Promise<Secret> {
    const [current] = await this.open(organizationId)
    if (!current) throw new Error('a webhook secret was made and is not there')
    await this.#deps.store.transaction(async (tx) => {
      const detail = { hint: current.secret.hint }
      note(tx, organizationId, { actor, verb: 'revealed', detail })
    })
    return current.secret
  }

  /**
   * Creates a new secret; the old one keeps signing during the overlap, 24 hours by default. An overlap of 0 ends all
   * old secrets immediately. Throws `conflict` if ten secrets already sign and the overlap is not 0.
   */
  async rotate(organizationId: string, actor: Actor, overlapMs = usualOverlapMs): Promise<Secret> {
    return await this.#deps.store.transaction(async (tx) => {
      await organizationHeads.lockHead(tx, organizationId)
      const signing = await webhookSecrets.listValid(tx, organizationId, tx.now)
      if (overlapMs > 0 && signing.length >= maxSigning) {
        const detail = `Up to ${maxSigning} secrets sign at a time: end the overlap of the old ones first.`
        throw new Problem('conflict', detail)
      }
      await webhookSecrets.end(tx, organizationId, tx.now + overlapMs)
      const secret = await this.#mint(tx, organizationId)
      const detail = { hint: secret.hint, overlap_seconds: overlapMs / 1000 }
      note(tx, organizationId, { actor, verb: 'rotated', detail })
      tx.changed({ kind: 'endpoint', organizationId, endpointIds: 'all' })
      return secret
    })
  }

  async endOverlap(organizationId: string, actor: Actor): Promise<void> {
    await this.#deps.store.transaction(async (tx) => {
      await organizationHeads.lockHead(tx, organizationId)
      await webhookSecrets.endOlder(tx, organizationId, tx.now)
      note(tx, organizationId, { actor, verb: 'overlap_ended', detail: {} })
      tx.changed({ kind: 'endpoint', organizationId, endpointIds: 'all' })
    })
  }

  async #ensure(organizationId: string) {
    const { background } = this.#deps.store
    const found = await webhookSecrets.listValid(background, organizationId, this.#deps.clock.now())
    if (found.length > 0) return found
    return await this.#deps.store.transaction(async (tx) => {
      // The lock keeps two concurrent first uses from creating two secrets.
      await organizationHeads.lockHead(tx, organizationId)
      const inside = await webhookSecrets.listValid(tx, organizationId, tx.now)
      if (inside.length > 0) return inside
      await this.#mint(tx, organizationId)
      return await webhookSecrets.listValid(tx, organizationId, tx.now)
    })
  }

  async #mint(tx: Tx, organizationId: string): Promise<Secret> {
    const id = createId('sgn', tx.now)
    const secret = mintWebhookSecret()
    const context = webhookSecrets.sealContext(organizationId, id)
    const sealed = this.#deps.sealer.seal(secret.reveal(), context)
    await webhookSecrets.insert(tx, { id, organizationId, sealed, hint: secret.hint })
    return secret
  }
}

function note(
  tx: Tx,
  organizationId: string,
  change: { actor: Actor; verb: AuditVerb<'webhook.secret_'>; detail: Record<string, unknown> },
): void {
  const { actor, verb, detail } = change
  const subject = { kind: 'organization', id: organizationId }
  tx.audit({ organizationId, actor, action: `webhook.secret_${verb}`, subject, detail })
}
