import { record } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { isReservedHeader } from '../http/message/index.ts'
import { checkUrl, type AddressGuard } from '../http/outbound/index.ts'
import { createId, targetSlugPattern, type OrganizationId, type TargetId } from '../ids.ts'
import type { Sealer } from '../secrets/index.ts'
import {
  targets,
  type Actor,
  type Confirmation,
  type Store,
  type TargetRecord,
  type Tx,
} from '../store/index.ts'
import { credentialContext } from './guarded-target.ts'
import { pathAmbiguity } from './path.ts'
import { previewRules, type RuleDraft, type RulePreview } from './rule-preview.ts'
import { writtenPath } from './rule-path.ts'
import { checkRules, type RuleInput } from './rule-text.ts'
import { lastLineOf, type LastLine } from './rules.ts'
import {
  mergeSettings,
  readSettings,
  type TargetSettings,
  type TargetSettingsInput,
} from './settings.ts'

const maxNameLength = 100
const maxCredentialLength = 8192
const slugShape = new RegExp(targetSlugPattern, 'u')

/** The fields of a target that a person sets; omitted ones keep their value. */
export interface TargetInput {
  readonly name?: string | undefined
  readonly upstream?: string | undefined
  /** The header injected into calls; null removes it. */
  readonly credential?: { readonly header: string; readonly value: string } | null | undefined
  readonly settings?: TargetSettingsInput | undefined
  /** The action for calls that no rule decides; null restores the default. */
  readonly otherwise?: LastLine | null | undefined
  /** All rules, in order. A rule with the id of an existing one keeps that id, any other gets a new one. */
  readonly rules?: readonly RuleInput[] | undefined
  readonly disabled?: boolean | undefined
}

/** A target as shown to people; of its credential only the header's name is included. */
export interface Target extends Omit<TargetRecord, 'settings' | 'credentialSealed'> {
  readonly settings: TargetSettings
  /** The action for a call that no rule decides: the value of `otherwise`, or the default. */
  readonly lastLine: LastLine
}

export interface TargetPlace {
  readonly organizationId: OrganizationId
  readonly idOrSlug: string
}

export interface Targets {
  /** Creates a target; throws `invalid_input`, `outbound_blocked`, or `conflict` if the slug is taken. */
  create(
    organizationId: OrganizationId,
    input: TargetInput & { readonly slug: string; readonly upstream: string },
    actor: Actor,
  ): Promise<Target>
  /**
   * Changes a target; resolves when no node applies the old settings any more. Throws `invalid_input`,
   * `outbound_blocked`, `not_found` or `version_conflict`. A different upstream origin removes the credential unless a
   * new credential is given.
   */
  edit(
    at: TargetPlace & { readonly expectedVersion?: number | undefined },
    input: TargetInput,
    actor: Actor,
  ): Promise<{ target: Target; credentialDropped: boolean; confirmation: Confirmation }>
  /** Removes a target; resolves when no node forwards new calls to it any more. Throws `not_found`. */
  remove(organizationId: OrganizationId, idOrSlug: string, actor: Actor): Promise<void>
  /** Throws `not_found`. */
  get(organizationId: OrganizationId, idOrSlug: string): Promise<Target>
  list(organizationId: OrganizationId): Promise<Target[]>
  /**
   * Computes what other rules would have done with the recorded calls of the last 24 hours; saves nothing. Throws
   * `not_found`, `invalid_input`.
   */
  preview(at: TargetPlace, draft: RuleDraft, signal?: AbortSignal): Promise<RulePreview>
  /** Returns the slugs of all targets by id. */
  slugs(organizationId: OrganizationId): Promise<ReadonlyMap<string, string>>
}

interface TargetsDeps {
  readonly store: Store
  readonly sealer: Sealer
  readonly clock: Clock
  readonly guard: AddressGuard
  readonly defaults: TargetSettings
}

export function createTargets(deps: TargetsDeps): Targets {
  return new StoredTargets(deps)
}

class StoredTargets implements Targets {
  readonly #deps: TargetsDeps

  constructor(deps: TargetsDeps) {
    this.#deps = deps
  }

  async create(
    organizationId: OrganizationId,
    input: TargetInput & { readonly slug: string; readonly upstream: string },
    actor: Actor,
  ): Promise<Target> {
    const { store, clock, guard } = this.#deps
    const slug = checkSlug(input.slug)
    const id = createId('tgt', clock.now())
    const columns = {
      name: checkName(input.name ?? slug),
      upstream: checkUpstream(input.upstream, guard),
      ...this.#sealed({ organizationId, id }, input.credential),
      settings: mergeSettings({}, input.settings ?? {}),
      otherwise: input.otherwise ?? undefined,
    }
    const rules = checkRules(input.rules ?? [], [])
    return await store.transaction(async (tx) => {
      const disabledAt = input.disabled === true ? tx.now : undefined
      const made = await targets.insert(tx, { id, organizationId, slug, ...columns, disabledAt })
      if (!made) throw new Problem('conflict', `The organization has a target "${slug}" already.`)
      await targets.replaceRules(tx, { organizationId, id, rules })
      const target = { ...made, rules }
      note(tx, { verb: 'created', target, actor, detail: { after: describe(target) } })
      return this.#shown(target)
    })
  }

  async edit(
    at: TargetPlace & { readonly expectedVersion?: number | undefined },
    input: TargetInput,
    actor: Actor,
  ): Promise<{ target: Target; credentialDropped: boolean; confirmation: Confirmation }> {
    const { result, confirmation } = await this.#deps.store.transactionConfirmed(async (tx) => {
      // Locks the row, because its columns are written as a whole and another transaction may be changing one of them.
      const before = await getRecord(tx, { ...at, lock: true })
      const { columns, credentialDropped } = this.#edited(before, input, tx.now)
      const { organizationId, expectedVersion } = at
      const updated = await targets.update(tx, {
        ...{ organizationId, id: before.id, target: columns, expectedVersion },
      })
      if (!updated) {
        throw new Problem('version_conflict', `Target ${before.slug} was changed in the meantime.`)
      }
      const rules = input.rules === undefined ? before.rules : checkRules(input.rules, before.rules)
      if (input.rules !== undefined) {
        await targets.replaceRules(tx, { organizationId, id: before.id, rules })
      }
      const target = { ...updated, rules }
      const detail = { before: describe(before), after: describe(target) }
      note(tx, { verb: 'edited', target, actor, detail })
      return { target: this.#shown(target), credentialDropped }
    })
    return { ...result, confirmation }
  }

  async remove(organizationId: OrganizationId, idOrSlug: string, actor: Actor): Promise<void> {
    await this.#deps.store.transactionConfirmed(async (tx) => {
      const target = await getRecord(tx, { organizationId, idOrSlug })
      await targets.remove(tx, organizationId, target.id)
      note(tx, { verb: 'removed', target, actor, detail: { before: describe(target) } })
    })
  }

  async get(organizationId: OrganizationId, idOrSlug: string): Promise<Target> {
    return this.#shown(await getRecord(this.#deps.store, { organizationId, idOrSlug }))
  }

  async preview(at: TargetPlace, draft: RuleDraft, signal?: AbortSignal): Promise<RulePreview> {
    const { store, clock } = this.#deps
    const target = this.#shown(await getRecord(store, at))
    return await previewRules(target, draft, { store, clock, signal })
  }

  async list(organizationId: OrganizationId): Promise<Target[]> {
    const records = await targets.list(this.#deps.store, organizationId)
    return records.map((record) => this.#shown(record))
  }

  async slugs(organizationId: OrganizationId): Promise<ReadonlyMap<string, string>> {
    return await targets.slugs(this.#deps.store, organizationId)
  }

  /** Returns the columns of a target after an edit, and whether a change of upstream removed its credential. */
  #edited(before: TargetRecord, input: TargetInput, now: number) {
    const upstream =
      input.upstream === undefined
        ? before.upstream
        : checkUpstream(input.upstream, this.#deps.guard)
    // A person who may not read a credential must not be able to send it to a host of their choice.
    const moved = new URL(upstream).origin !== new URL(before.upstream).origin
    const keeps = input.credential === undefined && !moved
    const credential = keeps
      ? { credentialHeader: before.credentialHeader, credentialSealed: before.credentialSealed }
      : this.#sealed(before, input.credential)
    const columns = {
      name: input.name === undefined ? before.name : checkName(input.name),
      upstream,
      ...credential,
      settings: mergeSettings(before.settings, input.settings ?? {}),
      otherwise: input.otherwise === undefined ? before.otherwise : (input.otherwise ?? undefined),
      disabledAt: disabledAt(before, input.disabled, now),
    }
    const credentialDropped =
      moved && before.credentialHeader !== undefined && input.credential === undefined
    return { columns, credentialDropped }
  }

  #shown(target: TargetRecord): Target {
    const { credentialSealed: _sealed, ...rest } = target
    return {
      ...rest,
      rules: target.rules.map((rule) => ({ ...rule, path: writtenPath(rule.path) })),
      settings: readSettings(target.settings, this.#deps.defaults),
      lastLine: lastLineOf(target),
    }
  }

  #sealed(
    target: { organizationId: OrganizationId; id: TargetId },
    credential: TargetInput['credential'],
  ) {
    if (credential === undefined || credential === null) {
      return { credentialHeader: undefined, credentialSealed: undefined }
    }
    checkCredential(credential)
    return {
      credentialHeader: credential.header,
      credentialSealed: this.#deps.sealer.seal(credential.value, credentialContext(target)),
    }
  }
}

async function getRecord(
  db: Parameters<typeof targets.find>[0],
  place: Parameters<typeof targets.find>[1],
): Promise<TargetRecord> {
  const target = await targets.find(db, place)
  if (target) return target
  throw new Problem(
    'not_found',
    `There is no target ${place.idOrSlug.slice(0, 64)} in this organization.`,
  )
}

function note(
  tx: Tx,
  change: {
    verb: 'created' | 'edited' | 'removed'
    target: TargetRecord
    actor: Actor
    detail: Record<string, unknown>
  },
): void {
  const { verb, target, actor, detail } = change
  const { organizationId, id } = target
  const subject = { kind: 'target', id }
  record(tx, { organizationId, actor, action: `target.${verb}`, subject, detail })
  tx.changed({ kind: 'target', organizationId, subjectId: id })
}

function describe(target: TargetRecord): Record<string, unknown> {
  return {
    slug: target.slug,
    name: target.name,
    upstream: target.upstream,
    credential_header: target.credentialHeader ?? null,
    settings: target.settings,
    disabled: target.disabledAt !== undefined,
    otherwise: lastLineOf(target),
    rules: target.rules.map(({ effect, methods, path, trial }) => ({
      effect,
      methods,
      path: writtenPath(path),
      trial,
    })),
  }
}

function disabledAt(
  before: TargetRecord,
  disabled: boolean | undefined,
  nowMs: number,
): number | undefined {
  if (disabled === undefined) return before.disabledAt
  return disabled ? (before.disabledAt ?? nowMs) : undefined
}

function checkSlug(slug: string): string {
  if (slugShape.test(slug)) return slug
  throw new Problem(
    'invalid_input',
    'A target is named by 1 to 63 of a–z, 0–9 and "-", with "-" neither first nor last.',
  )
}

function checkName(name: string): string {
  const trimmed = name.trim()
  if (trimmed !== '' && trimmed.length <= maxNameLength && !/\p{Cc}/u.test(trimmed)) return trimmed
  throw new Problem('invalid_input', `A target's name has 1 to ${maxNameLength} characters.`)
}

function checkUpstream(text: string, guard: AddressGuard): string {
  const { url } = checkUrl(text, guard)
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    throw new Problem('invalid_input', 'An upstream is protocol, host, port and perhaps a path.')
  }
  const fault = pathAmbiguity(url.pathname, 'canonical')
  if (fault !== undefined) throw new Problem('invalid_input', `The upstream's path: ${fault}.`)
  return url.href
}

// Refuses a name or value that no header may have (RFC 9110, sections 5.1 and 5.5), and the headers that only Intercept
// may set.
function checkCredential(credential: { header: string; value: string }): void {
  const { header, value } = credential
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}$/.test(header) || isReservedHeader(header)) {
    throw new Problem(
      'invalid_input',
      `${header.slice(0, 64)} cannot be the header of a credential.`,
    )
  }
  if (
    value === '' ||
    value.length > maxCredentialLength ||
    !/^[\x20-\x7e]+$/.test(value) ||
    value !== value.trim()
  ) {
    throw new Problem('invalid_input', 'A credential is printable ASCII without blanks around it.')
  }
}
