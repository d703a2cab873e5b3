import { record } from '../audit/index.ts'
import { Problem } from '../errors.ts'
import type { ResolveTxt } from '../http/index.ts'
import { createId, type OrganizationId } from '../ids.ts'
import { randomBase62 } from '../secrets/index.ts'
import { domains, type Actor, type DomainRecord, type Store, type Tx } from '../store/index.ts'
import { publish } from '../webhooks/events/index.ts'
import { lookForChallenge, type Seen } from './domain-check.ts'
import { parseDomain, parseMailAddress } from './domain-names.ts'
import { requireEnterprise } from '../organizations/index.ts'

export { challengeRecord } from './domain-check.ts'

/** Domains of organizations: claim, prove, keep proving, route mail addresses by them. */
export interface Domains {
  list(organizationId: OrganizationId): Promise<DomainRecord[]>
  /** By id or name; `not_found`. */
  get(organizationId: OrganizationId, idOrName: string): Promise<DomainRecord>
  /** `domain_invalid`, `domain_public`, `conflict`. */
  add(
    organizationId: OrganizationId,
    wish: { name: string; connectionId?: string | undefined },
    actor: Actor,
  ): Promise<DomainRecord>
  /** Asks the DNS now and acts on what it says; `not_found`, `domain_taken` when proven but held by another organization. */
  check(organizationId: OrganizationId, idOrName: string, actor: Actor): Promise<DomainRecord>
  /** The operator vouches for a domain that no DNS shows (closed networks). `domain_taken`. */
  override(organizationId: OrganizationId, name: string, actor: Actor): Promise<DomainRecord>
  /** Sends its people to one connection; undefined means the default. `not_found`. */
  route(
    organizationId: OrganizationId,
    idOrName: string,
    connectionId: string | undefined,
    actor: Actor,
  ): Promise<DomainRecord>
  remove(organizationId: OrganizationId, idOrName: string, actor: Actor): Promise<void>
  /** The verified domain that a mail address belongs to, exactly; undefined for any other address. */
  ofAddress(address: unknown): Promise<DomainRecord | undefined>
  /** Checks what is due: new domains every minute for 72 hours, verified ones every week. Returns how many. */
  checkDue(): Promise<number>
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const weekMs = 7 * dayMs
const tryingForMs = 72 * hourMs
const domainsAtOnce = 20
const maxDomains = 100
// A check that hangs must have ended before another node takes the domain.
const leaseMs = 2 * minuteMs

/** Opens the domains' rules. */
export function createDomains(deps: { store: Store; resolveTxt: ResolveTxt }): Domains {
  const { store } = deps

  async function get(organizationId: OrganizationId, idOrName: string): Promise<DomainRecord> {
    const found = await domains.find(store, organizationId, idOrName.toLowerCase())
    if (!found) throw notFound()
    return found
  }

  async function look(domain: DomainRecord, actor: Actor): Promise<DomainRecord> {
    const seen = await lookForChallenge(domain, deps.resolveTxt)
    return await store.transaction(async (tx) => {
      const current = await domains.find(tx, domain.organizationId, domain.id)
      if (!current) throw notFound()
      return await decide(tx, { domain: current, seen }, actor)
    })
  }

  return {
    get,
    list: async (organizationId) => await domains.list(store, organizationId),
    async add(organizationId, wish, actor) {
      await requireEnterprise(store, organizationId)
      const name = parseDomain(wish.name)
      if ((await domains.list(store, organizationId)).length >= maxDomains) {
        throw new Problem('conflict', `An organization has at most ${maxDomains} domains.`)
      }
      return await store.transaction(async (tx) => {
        const added = await domains.insert(tx, {
          id: createId('dom', tx.now),
          organizationId,
          name,
          challenge: `intercept-domain=${randomBase62(32)}`,
          connectionId: wish.connectionId as DomainRecord['connectionId'],
          nextCheckAt: tx.now + minuteMs,
        })
        if (!added) throw new Problem('conflict', `${name} is in this organization already.`)
        note(tx, { domain: added, verb: 'added' }, actor)
        return added
      })
    },
    async check(organizationId, idOrName, actor) {
      await requireEnterprise(store, organizationId)
      const domain = await get(organizationId, idOrName)
      // What the operator vouched for stays so until it is removed: no DNS shows it.
      if (domain.verifiedBy === 'operator') return domain
      const checked = await look(domain, actor)
      if (checked.seen?.['kind'] === 'verified' && checked.verifiedAt === undefined)
        throw taken(domain)
      return checked
    },
    async override(organizationId, name, actor) {
      await requireEnterprise(store, organizationId)
      const domain = await get(organizationId, parseDomain(name))
      return await store.transaction(async (tx) => {
        if (!(await domains.hold(tx, domain))) throw taken(domain)
        const verified = await domains.noteCheck(tx, domain, {
          seen: undefined,
          nextCheckAt: null,
          verified: { by: 'operator' },
        })
        if (!verified) throw notFound()
        announce(tx, { domain: verified, verb: 'verified', detail: { by: 'operator' } }, actor)
        return verified
      })
    },
    async route(organizationId, idOrName, connectionId, actor) {
      await requireEnterprise(store, organizationId)
      const domain = await get(organizationId, idOrName)
      return await store.transaction(async (tx) => {
        const routed = await domains.route(tx, { organizationId, id: domain.id, connectionId })
        if (!routed) throw notFound()
        const detail = { connection_id: connectionId ?? null }
        note(tx, { domain: routed, verb: 'routed', detail }, actor)
        return routed
      })
    },
    async remove(organizationId, idOrName, actor) {
      const domain = await get(organizationId, idOrName)
      await store.transaction(async (tx) => {
        await domains.remove(tx, domain)
        note(tx, { domain, verb: 'removed' }, actor)
      })
    },
    async ofAddress(address) {
      const mail = parseMailAddress(address)
      return mail === undefined ? undefined : await domains.findHeld(store, mail.domain)
    },
    async checkDue() {
      const due = await store.transaction(
        async (tx) =>
          await domains.takeDue(tx, { limit: domainsAtOnce, putOffUntil: tx.now + leaseMs }),
      )
      await Promise.all(due.map(async (domain) => await look(domain, { kind: 'system' })))
      return due.length
    },
  }
}

/** What a look at the DNS means for a domain: proven, lost, or to be looked at again. */
async function decide(
  tx: Tx,
  { domain, seen }: { readonly domain: DomainRecord; readonly seen: Seen },
  actor: Actor,
): Promise<DomainRecord> {
  const proven = seen.kind === 'verified'
  const wasVerified = domain.verifiedAt !== undefined
  // A DNS that does not answer proves nothing: the domain stays what it is, for a week at most.
  const since = domain.seen?.['kind'] === seen.kind ? Number(domain.seen['since']) : tx.now
  const overdue = tx.now - since > weekMs
  const lost = wasVerified && !proven && (seen.kind !== 'dns_failed' || overdue)
  const held = proven && (await domains.hold(tx, domain))
  if (lost) await domains.release(tx, domain)
  const after = await domains.noteCheck(tx, domain, {
    seen: { ...seen, since },
    nextCheckAt: nextCheckAt(tx.now, domain, { held, kept: wasVerified && !lost, lost }),
    verified: held && !wasVerified ? { by: 'dns' } : undefined,
    lost,
  })
  if (!after) throw notFound()
  if (held && !wasVerified) {
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

/** What happened to a domain, as audit and events say it. */
interface DomainChange<Verb extends string = string> {
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

function notFound(): Problem {
  return new Problem('not_found', 'There is no such domain in this organization.')
}
