import { record } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { checkUrl, isReservedHeader, type AddressGuard } from '../http/index.ts'
import { createId, type OrganizationId, type TargetId } from '../ids.ts'
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

/** What a person decides about a target; what is left out stays as it is. */
export interface TargetInput {
  readonly name?: string | undefined
  readonly upstream?: string | undefined
  /** The header injected into calls; null takes it away. */
  readonly credential?: { readonly header: string; readonly value: string } | null | undefined
  readonly settings?: TargetSettingsInput | undefined
  /** What becomes of calls that no rule decides; null goes back to the default. */
  readonly otherwise?: LastLine | null | undefined
  /** All rules, in order. A rule with the id of a present one keeps that id. */
  readonly rules?: readonly RuleInput[] | undefined
  readonly disabled?: boolean | undefined
}

/** A target for people: its credential only by the header's name. */
export interface Target extends Omit<TargetRecord, 'settings' | 'credentialSealed'> {
  readonly settings: TargetSettings
  /** What becomes of a call that no rule decides: what `otherwise` says, or else the default. */
  readonly lastLine: LastLine
}

/** Targets of organizations: create, edit, remove, look at. */
export interface Targets {
  /** `invalid_input`, `outbound_blocked`, `conflict` for a slug that is taken. */
  create(
    organizationId: OrganizationId,
    wish: TargetInput & { readonly slug: string; readonly upstream: string },
    actor: Actor,
  ): Promise<Target>
  /** Answers when every node goes by it. Also `not_found`, `version_conflict`. Another upstream origin drops the credential unless a new one comes with it. */
  edit(
    organizationId: OrganizationId,
    idOrSlug: string,
    wish: TargetInput,
    actor: Actor,
    expectedVersion?: number,
  ): Promise<{ target: Target; credentialDropped: boolean; confirmation: Confirmation }>
  /** Answers when no node lets a call through to it any more. `not_found`. */
  remove(organizationId: OrganizationId, idOrSlug: string, actor: Actor): Promise<void>
  /** `not_found`. */
  get(organizationId: OrganizationId, idOrSlug: string): Promise<Target>
  list(organizationId: OrganizationId): Promise<Target[]>
  /** What other rules would have done to the calls of the last 24 hours; nothing is saved. `not_found`, `invalid_input`. */
  preview(
    organizationId: OrganizationId,
    idOrSlug: string,
    draft: RuleDraft,
    signal?: AbortSignal,
  ): Promise<RulePreview>
  /** Their slugs by their ids. */
  slugs(organizationId: OrganizationId): Promise<ReadonlyMap<string, string>>
}

/** Opens the targets' rules of the house. */
export function createTargets(deps: {
  store: Store
  sealer: Sealer
  clock: Clock
  guard: AddressGuard
  defaults: TargetSettings
}): Targets {
  const { store, sealer, clock, guard, defaults } = deps

  function shown(target: TargetRecord): Target {
    const { credentialSealed: _sealed, ...rest } = target
    return {
      ...rest,
      settings: readSettings(target.settings, defaults),
      lastLine: lastLineOf(target),
    }
  }

  function sealedCredential(
    target: { organizationId: OrganizationId; id: TargetId },
    wish: TargetInput['credential'],
  ) {
    if (wish === undefined || wish === null)
      return { credentialHeader: undefined, credentialSealed: undefined }
    checkCredential(wish)
    return {
      credentialHeader: wish.header,
      credentialSealed: sealer.seal(wish.value, credentialContext(target)),
    }
  }

  return {
    async create(organizationId, wish, actor) {
      const slug = checkSlug(wish.slug)
      const id = createId('tgt', clock.now())
      const columns = {
        name: checkName(wish.name ?? slug),
        upstream: checkUpstream(wish.upstream, guard),
        ...sealedCredential({ organizationId, id }, wish.credential),
        settings: mergeSettings({}, wish.settings ?? {}),
        otherwise: wish.otherwise ?? undefined,
      }
      const rules = checkRules(wish.rules ?? [], [])
      return await store.transaction(async (tx) => {
        const disabledAt = wish.disabled === true ? tx.now : undefined
        const made = await targets.insert(tx, { id, organizationId, slug, ...columns, disabledAt })
        if (!made) throw new Problem('conflict', `The organization has a target "${slug}" already.`)
        await targets.replaceRules(tx, { organizationId, id, rules })
        const target = { ...made, rules }
        note(tx, 'created', target, actor, { after: describe(target) })
        return shown(target)
      })
    },
    async edit(organizationId, idOrSlug, wish, actor, expectedVersion) {
      const { result, confirmation } = await store.transactionConfirmed(async (tx) => {
        const before = await getRecord(tx, organizationId, idOrSlug)
        const upstream =
          wish.upstream === undefined ? before.upstream : checkUpstream(wish.upstream, guard)
        // Whoever may not read a credential must not send it to a host of his choice (P15).
        const moved = new URL(upstream).origin !== new URL(before.upstream).origin
        const keeps = wish.credential === undefined && !moved
        const credential = keeps
          ? { credentialHeader: before.credentialHeader, credentialSealed: before.credentialSealed }
          : sealedCredential(before, wish.credential)
        const updated = await targets.update(tx, {
          organizationId,
          id: before.id,
          target: {
            name: wish.name === undefined ? before.name : checkName(wish.name),
            upstream,
            ...credential,
            settings: mergeSettings(before.settings, wish.settings ?? {}),
            otherwise:
              wish.otherwise === undefined ? before.otherwise : (wish.otherwise ?? undefined),
            disabledAt: disabledAt(before, wish.disabled, tx.now),
          },
          expectedVersion,
        })
        if (!updated) {
          throw new Problem(
            'version_conflict',
            `Target ${before.slug} was changed in the meantime.`,
          )
        }
        const rules = wish.rules === undefined ? before.rules : checkRules(wish.rules, before.rules)
        if (wish.rules !== undefined) {
          await targets.replaceRules(tx, { organizationId, id: before.id, rules })
        }
        const target = { ...updated, rules }
        note(tx, 'edited', target, actor, { before: describe(before), after: describe(target) })
        const credentialDropped =
          moved && before.credentialHeader !== undefined && wish.credential === undefined
        return { target: shown(target), credentialDropped }
      })
      return { ...result, confirmation }
    },
    async remove(organizationId, idOrSlug, actor) {
      await store.transactionConfirmed(async (tx) => {
        const target = await getRecord(tx, organizationId, idOrSlug)
        await targets.remove(tx, organizationId, target.id)
        note(tx, 'removed', target, actor, { before: describe(target) })
      })
    },
    get: async (organizationId, idOrSlug) =>
      shown(await getRecord(store, organizationId, idOrSlug)),
    async preview(organizationId, idOrSlug, draft, signal) {
      const target = shown(await getRecord(store, organizationId, idOrSlug))
      return await previewRules(target, draft, { store, clock, signal })
    },
    list: async (organizationId) => (await targets.list(store, organizationId)).map(shown),
    slugs: async (organizationId) => await targets.slugs(store, organizationId),
  }
}

async function getRecord(
  at: Parameters<typeof targets.find>[0],
  organizationId: OrganizationId,
  idOrSlug: string,
): Promise<TargetRecord> {
  const target = await targets.find(at, organizationId, idOrSlug)
  if (target) return target
  throw new Problem(
    'not_found',
    `There is no target ${idOrSlug.slice(0, 64)} in this organization.`,
  )
}

function note(
  tx: Tx,
  verb: 'created' | 'edited' | 'removed',
  target: TargetRecord,
  actor: Actor,
  detail: Record<string, unknown>,
): void {
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
      path,
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
  if (/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(slug)) return slug
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

// RFC 9110, section 5.1 and 5.5; nothing that frames or routes a message, nothing that only we say.
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
