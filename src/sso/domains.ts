import { record } from '../audit/index.ts'
import { Problem } from '../errors.ts'
import type { ResolveTxt } from '../http/index.ts'
import { createId, type OrganizationId } from '../ids.ts'
import { randomBase62 } from '../secrets/index.ts'
import {
  domains,
  type Actor,
  type DomainRecord,
  type Store,
  type Tx,
  type AuditVerb,
} from '../store/index.ts'
import { publish } from '../webhooks/events/index.ts'
import { lookForChallenge, type DnsFinding } from './domain-check.ts'
import { dayMs, hourMs, minuteMs } from '../units.ts'
import { parseDomain, parseMailAddress } from './domain-names.ts'
import { requireEnterprise } from '../organizations/index.ts'

export { challengeRecord } from './domain-check.ts'

const weekMs = 7 * dayMs
const tryingForMs = 72 * hourMs
const domainsAtOnce = 20
const maxDomains = 100
// The lease is longer than any check takes, so that no other node checks the same domain meanwhile.
const leaseMs = 2 * minuteMs

/** Manages the domains of organizations: adds and verifies them, keeps checking them, and routes sign-ins by them. */
export class Domains {
  readonly #store: Store
  readonly #resolveTxt: ResolveTxt

  constructor({ store, resolveTxt }: { readonly store: Store; readonly resolveTxt: ResolveTxt }) {
    this.#store = store
    this.#resolveTxt = resolveTxt
  }

  async list(organizationId: OrganizationId): Promise<DomainRecord[]> {
    return await domains.list(this.#store, organizationId)
  }

  /** Finds a domain by id or name. Throws `not_found`. */
  async get(organizationId: OrganizationId, idOrName: string): Promise<DomainRecord> {
    return found(await domains.find(this.#store, organizationId, idOrName.toLowerCase()))
  }

  /** Throws `plan_required`, `domain_invalid`, `domain_public` or `conflict`. */
  async add(
    organizationId: OrganizationId,
    input: { readonly name: string; readonly connectionId?: string | undefined },
    actor: Actor,
  ): Promise<DomainRecord> {
    await requireEnterprise(this.#store, organizationId)
    const name = parseDomain(input.name)
    if ((await this.list(organizationId)).length >= maxDomains) {
      throw new Problem('conflict', `An organization has at most ${maxDomains} domains.`)
    }
    return await this.#store.transaction(async (tx) => {
      const added = await domains.insert(tx, {
        id: createId('dom', tx.now),
        organizationId,
        name,
        challenge: `intercept-domain=${randomBase62(32)}`,
        connectionId: input.connectionId as DomainRecord['connectionId'],
        nextCheckAt: tx.now + minuteMs,
      })
      if (!added) throw new Problem('conflict', `${name} is in this organization already.`)
      note(tx, { domain: added, verb: 'added' }, actor)
      return added
    })
  }

  /**
   * Checks the DNS now and applies the result. Throws `plan_required`, `not_found`, or `domain_taken` if the DNS proves
   * the domain but another organization holds it.
   */
  async check(
    organizationId: OrganizationId,
    idOrName: string,
    actor: Actor,
  ): Promise<DomainRecord> {
    await requireEnterprise(this.#store, organizationId)
    const domain = await this.get(organizationId, idOrName)
    // A domain verified by the operator has no DNS record to check; it stays verified until it is removed.
    if (domain.verifiedBy === 'operator') return domain
    const checked = await this.#look(domain, actor)
    const isProven = checked.seen?.['kind'] === 'verified'
    if (isProven && checked.verifiedAt === undefined) throw taken(domain)
    return checked
  }

  /**
   * Verifies a domain by decision of the operator, for closed networks without public DNS. Throws `plan_required`,
   * `domain_invalid`, `domain_public`, `not_found`, `domain_taken`.
   */
  async override(
    organizationId: OrganizationId,
    name: string,
    actor: Actor,
  ): Promise<DomainRecord> {
    await requireEnterprise(this.#store, organizationId)
    const domain = await this.get(organizationId, parseDomain(name))
    return await this.#store.transaction(async (tx) => {
      if (!(await domains.hold(tx, domain))) throw taken(domain)
      const by = 'operator'
      const outcome = { seen: undefined, nextCheckAt: null, verified: { by } } as const
      const verified = found(await domains.noteCheck(tx, domain, outcome))
      announce(tx, { domain: verified, verb: 'verified', detail: { by } }, actor)
      return verified
    })
  }

  /**
   * Sends people of the domain to one connection; undefined means the default connection. Throws `plan_required`,
   * `not_found`.
   */
  async route(
    organizationId: OrganizationId,
    idOrName: string,
    { connectionId, actor }: { readonly connectionId: string | undefined; readonly actor: Actor },
  ): Promise<DomainRecord> {
    await requireEnterprise(this.#store, organizationId)
    const { id } = await this.get(organizationId, idOrName)
    return await this.#store.transaction(async (tx) => {
      const routed = found(await domains.route(tx, { organizationId, id, connectionId }))
      const detail = { connection_id: connectionId ?? null }
      note(tx, { domain: routed, verb: 'routed', detail }, actor)
      return routed
    })
  }

  /** Throws `not_found`. */
  async remove(organizationId: OrganizationId, idOrName: string, actor: Actor): Promise<void> {
    const domain = await this.get(organizationId, idOrName)
    await this.#store.transaction(async (tx) => {
      await domains.remove(tx, domain)
      note(tx, { domain, verb: 'removed' }, actor)
    })
  }

  /**
   * Finds the verified domain of a mail address; undefined if there is none. A verified parent domain does not count.
   */
  async ofAddress(address: unknown): Promise<DomainRecord | undefined> {
    const mail = parseMailAddress(address)
    return mail === undefined ? undefined : await domains.findHeld(this.#store, mail.domain)
  }

  /** Checks a batch of the domains that are due; returns how many. */
  async checkDue(): Promise<number> {
    const due = await this.#store.transaction(async (tx) => {
      const putOffUntil = tx.now + leaseMs
      return await domains.takeDue(tx, { limit: domainsAtOnce, putOffUntil })
    })
    await Promise.all(due.map(async (domain) => await this.#look(domain, { kind: 'system' })))
    return due.length
  }

  /** Asks the DNS outside any transaction, then reads the domain again and applies the result to it. */
  async #look(domain: DomainRecord, actor: Actor): Promise<DomainRecord> {
    const seen = await lookForChallenge(domain, this.#resolveTxt)
    return await this.#store.transaction(async (tx) => {
      const current = found(await domains.find(tx, domain.organizationId, domain.id))
      return await decide(tx, { domain: current, seen }, actor)
    })
  }
}

/**
 * Applies the result of a DNS lookup: verifies the domain or ends its verification, and sets when it is checked next,
 * if at all.
 */
async function decide(
  tx: Tx,
  { domain, seen }: { readonly domain: DomainRecord; readonly seen: DnsFinding },
  actor: Actor,
): Promise<DomainRecord> {
  const proven = seen.kind === 'verified'
  const wasVerified = domain.verifiedAt !== undefined
  // A DNS failure proves nothing, so a verified domain survives it for up to a week.
  const since = domain.seen?.['kind'] === seen.kind ? Number(domain.seen['since']) : tx.now
  const overdue = tx.now - since > weekMs
  const lost = wasVerified && !proven && (seen.kind !== 'dns_failed' || overdue)
  const held = proven && (await domains.hold(tx, domain))
  if (lost) await domains.release(tx, domain)
  const isNew = held && !wasVerified
  const outcome = {
    seen: { ...seen, since },
    nextCheckAt: nextCheckAt(tx.now, domain, { held, kept: wasVerified && !lost, lost }),
    verified: isNew ? ({ by: 'dns' } as const) : undefined,
    lost,
  }
  const after = found(await domains.noteCheck(tx, domain, outcome))
  if (isNew) {
    announce(tx, { domain: after, verb: 'verified', detail: { by: 'dns' } }, actor)
  }
  if (lost) announce(tx, { domain: after, verb: 'lost', detail: { seen: seen.sentence } }, actor)
  return after
}

function nextCheckAt(
  now: number,
  domain: DomainRecord,
  state: { held: boolean; kept: boolean; lost: boolean },
): number | null {
  if (state.held) return now + weekMs
  if (state.kept) return now + hourMs
  if (state.lost) return now + minuteMs
  const since = domain.lostAt ?? domain.createdAt
  return now - since < tryingForMs ? now + minuteMs : null
}

interface DomainChange<Verb extends AuditVerb<'domain.'> = AuditVerb<'domain.'>> {
  readonly domain: DomainRecord
  readonly verb: Verb
  readonly detail?: Readonly<Record<string, unknown>>
}

function announce(tx: Tx, change: DomainChange<'verified' | 'lost'>, actor: Actor): void {
  const { domain, verb, detail } = change
  note(tx, change, actor)
  publish(tx, {
    organizationId: domain.organizationId,
    type: `domain.${verb}`,
    data: { domain_id: domain.id, name: domain.name, ...detail },
  })
}

function note(tx: Tx, { domain, verb, detail }: DomainChange, actor: Actor): void {
  record(tx, {
    organizationId: domain.organizationId,
    actor,
    action: `domain.${verb}`,
    subject: { kind: 'domain', id: domain.id },
    detail: { name: domain.name, ...detail },
  })
}

function taken(domain: DomainRecord): Problem {
  return new Problem(
    'domain_taken',
    `${domain.name} is verified by another organization here. It must remove the domain, or lose its TXT record, first.`,
  )
}

function found(row: DomainRecord | undefined): DomainRecord {
  if (row) return row
  throw new Problem('not_found', 'There is no such domain in this organization.')
}
