import { record } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import type { AddressGuard } from '../http/index.ts'
import { createOrganizations } from '../organizations/index.ts'
import { sameSecret, type Sealer } from '../secrets/index.ts'
import {
  organizations,
  storeWithin,
  targets as targetRows,
  type Actor,
  type OrganizationRecord,
  type Store,
  type Tx,
} from '../store/index.ts'
import {
  createTargets,
  openCredential,
  parseRule,
  renderRule,
  type Target,
  type Targets,
  type TargetSettings,
  type TargetInput,
} from '../targets/index.ts'
import { settingNames, type Configuration, type TargetEntry } from './configuration.ts'
import { presentConfiguration } from './export.ts'
import { ownedOf } from './owned.ts'
import { planConfiguration, type Difference } from './plan.ts'
import type { ResolveReference } from './references.ts'

const dayMs = 86_400_000

/** What varies. */
export interface ConfigurationDeps {
  readonly store: Store
  readonly sealer: Sealer
  readonly clock: Clock
  readonly guard: AddressGuard
  readonly defaults: TargetSettings
  readonly resolve: ResolveReference
}

/** How a file is applied. */
export interface ApplyOptions {
  /** The file's name: what it owns is remembered under it. */
  readonly label: string
  /** Whether targets that the file made, and no longer names, are removed. */
  readonly prune: boolean
  readonly actor: Actor
}

/** What an apply would do. Nothing is changed. */
export async function plan(
  wanted: Configuration,
  { prune }: Pick<ApplyOptions, 'prune'>,
  deps: ConfigurationDeps,
): Promise<Difference[]> {
  const organization = await organizations.findBySlug(deps.store, wanted.organization.slug)
  return await differences(organization, wanted, { prune, secrets: resolved(wanted, deps), deps })
}

/** Makes an organization what the file says, in one transaction: all of it or nothing. Returns what it did. */
export async function applyConfiguration(
  wanted: Configuration,
  options: ApplyOptions,
  deps: ConfigurationDeps,
): Promise<Difference[]> {
  // Read before the transaction begins: inside of it only the database is awaited.
  const secrets = resolved(wanted, deps)
  const { result } = await deps.store.transactionConfirmed(
    async (tx) =>
      await applyWithin(
        tx,
        wanted,
        { ...options, secrets },
        {
          ...deps,
          store: storeWithin(deps.store, tx),
        },
      ),
  )
  return result
}

type Secrets = ReadonlyMap<string, string>

function resolved({ targets }: Configuration, { resolve }: ConfigurationDeps): Secrets {
  return new Map(
    targets.flatMap(({ slug, credential }) =>
      credential === null ? [] : [[slug, resolve(credential.value)] as const],
    ),
  )
}

async function applyWithin(
  tx: Tx,
  wanted: Configuration,
  { label, prune, actor, secrets }: ApplyOptions & { readonly secrets: Secrets },
  deps: ConfigurationDeps,
): Promise<Difference[]> {
  const { slug, name } = wanted.organization
  const owners = createOrganizations(deps)
  const found = await organizations.findBySlug(tx, slug)
  const planned = await differences(found, wanted, { prune, secrets, deps })
  if (planned.length === 0) return planned
  const organization = found ?? (await owners.create({ slug, name }, actor))
  const { id } = organization
  if (planned.some(({ subject }) => subject === `organization ${slug}`)) {
    const { scheme, expires_after_days: days, cidrs } = wanted.key_defaults
    const expiresAfterMs = days === null ? undefined : days * dayMs
    const keyDefaults = { scheme, expiresAfterMs, cidrs: cidrs ?? undefined }
    await owners.change(id, { name, keyDefaults }, actor)
  }
  const targets = createTargets(deps)
  const touched = new Set(planned.map(({ subject }) => subject))
  const present = new Map((await targets.list(id)).map((target) => [target.slug, target]))
  for (const entry of wanted.targets) {
    if (!touched.has(`target ${entry.slug}`)) continue
    await put(targets, organization, { entry, before: present.get(entry.slug), actor, secrets })
  }
  for (const { change, subject } of planned) {
    if (change === 'remove') await targets.remove(id, subject.slice('target '.length), actor)
  }
  await own(tx, id, { wanted, label })
  const subject = { kind: 'organization', id }
  const changes = planned.map((one) => `${one.change} ${one.subject}`).slice(0, 100)
  const detail = { label, differences: planned.length, changes }
  record(tx, { organizationId: id, actor, action: 'configuration.applied', subject, detail })
  return planned
}

async function differences(
  organization: OrganizationRecord | undefined,
  wanted: Configuration,
  { prune, secrets, deps }: { prune: boolean; secrets: Secrets; deps: ConfigurationDeps },
): Promise<Difference[]> {
  const none = { secretsThatDiffer: new Set<string>(), prunable: [] }
  if (organization === undefined) {
    return planConfiguration(undefined, wanted, none)
  }
  const rows = await targetRows.list(deps.store, organization.id)
  const secretsThatDiffer = new Set(
    rows
      .filter((row) => {
        const secret = secrets.get(row.slug)
        const kept = openCredential(row, deps.sealer)
        return secret !== undefined && kept !== undefined && !sameSecret(secret, kept)
      })
      .map(({ slug }) => slug),
  )
  const present = await presentConfiguration(organization, {
    targets: createTargets(deps),
    defaults: deps.defaults,
  })
  const prunable = prune ? ownedOf(organization).targets : []
  return planConfiguration(present, wanted, { secretsThatDiffer, prunable })
}

async function put(
  targets: Targets,
  { id }: OrganizationRecord,
  what: {
    readonly entry: TargetEntry
    readonly before: Target | undefined
    readonly actor: Actor
    readonly secrets: Secrets
  },
): Promise<void> {
  const { entry, before, actor, secrets } = what
  const wish = toInput(entry, before, secrets.get(entry.slug))
  if (before !== undefined) {
    await targets.edit(id, before.id, wish, actor)
    return
  }
  await targets.create(id, { ...wish, slug: entry.slug, upstream: entry.upstream }, actor)
}

/** Everything is said: what the file leaves out goes back to its default. */
function toInput(
  entry: TargetEntry,
  before: Target | undefined,
  secret: string | undefined,
): TargetInput {
  const { name, upstream, credential, otherwise, disabled } = entry
  const settings = Object.keys(settingNames).map((one) => [one, entry.settings[one] ?? null])
  const ids = new Map(before?.rules.map((rule) => [renderRule(rule), rule.id]))
  return {
    name,
    upstream,
    credential: credential === null ? null : { header: credential.header, value: secret ?? '' },
    settings: Object.fromEntries(settings) as NonNullable<TargetInput['settings']>,
    otherwise,
    rules: entry.rules.map((line) => ({ ...parseRule(line), id: ids.get(line) })),
    disabled,
  }
}

/** Remembers what the file owns, for `--prune` and for the next export. */
async function own(
  tx: Tx,
  id: OrganizationRecord['id'],
  { wanted, label }: { readonly wanted: Configuration; readonly label: string },
): Promise<void> {
  const organization = await organizations.find(tx, id, true)
  const configuration = {
    label,
    targets: wanted.targets.map(({ slug }) => slug),
    references: Object.fromEntries(
      wanted.targets.flatMap(({ slug, credential }) =>
        credential === null ? [] : [[slug, credential.value]],
      ),
    ),
  }
  await organizations.update(tx, id, { settings: { ...organization?.settings, configuration } })
}
