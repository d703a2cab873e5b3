import { record } from '../audit/index.ts'
import { Problem } from '../errors.ts'
import type { Permission } from '../access/index.ts'
import type { Provider, RelyingParty } from '../oidc/index.ts'
import {
  managed,
  organizations,
  storeWithin,
  type Actor,
  type Confirmation,
  type OrganizationRecord,
  type Tx,
} from '../store/index.ts'
import { createBreath, type Breath } from '../timers.ts'
import type { ConfigurationFile } from './file/read.ts'
import { ownedRows } from './owned.ts'
import { compare, noLongerNamed, referenceIn, type Difference, type Step } from './plan.ts'
import { placedAt } from './refusal.ts'
import { sectionKeys, type IssuedKey, type Scene, type SectionKey } from './sections/section.ts'
import { sections } from './sections/index.ts'
import {
  openServices,
  type ConfigurationDeps,
  type ConfigurationServices,
} from './sections/services.ts'
import { emptyState, readState, type State } from './state.ts'

export interface ApplyOptions {
  /** The file's name, which marks the things it manages. */
  readonly label: string
  /** Whether to remove things that the file manages and no longer names. */
  readonly prune: boolean
  /** The organization that the file must name; undefined accepts any. */
  readonly slug?: string | undefined
  /** Resolves `env:NAME` or `file:PATH` to its secret; undefined if there is none. */
  readonly resolve: (reference: string) => string | undefined
  /** The caller's permissions; undefined means all (the operator). */
  readonly permissions: readonly Permission[] | undefined
}

/** The options for applying a file, with the actor who applies it. */
export interface ApplyBy extends ApplyOptions {
  readonly actor: Actor
  /**
   * Receives the new keys. On the database, it is called with their secrets as the last step before the commit, and
   * again if the transaction is retried. Over the API, it is called with the names alone before the change, and with the
   * secrets after it.
   */
  readonly onIssued?: ((issued: readonly IssuedKey[]) => void) | undefined
}

/** What an apply changed, the keys that it issued, and how many nodes have confirmed it. */
export interface Applied {
  readonly differences: readonly Difference[]
  readonly issued: readonly IssuedKey[]
  readonly confirmation: Confirmation
}

/**
 * Computes what an apply would do, without changing anything. Like an apply, it requires the permissions for the
 * differences that it finds, because it reveals the current state.
 */
export async function planFile(
  file: ConfigurationFile,
  options: ApplyOptions,
  deps: ConfigurationDeps,
): Promise<Difference[]> {
  const breath = createBreath(deps.clock)
  const { steps } = await look(file, { ...options, secrets: resolved(file, options), breath }, deps)
  refuseForbidden(file, steps, options)
  return steps.map(toDifference)
}

/** Makes an organization match the file in one audited transaction, all or nothing. */
export async function applyFile(
  file: ConfigurationFile,
  options: ApplyBy,
  deps: ConfigurationDeps,
): Promise<Applied> {
  // Files, environment and providers are read before the transaction, in which only the database may be awaited.
  const secrets = resolved(file, options)
  const breath = createBreath(deps.clock)
  const { steps } = await look(file, { ...options, secrets, breath }, deps)
  refuseForbidden(file, steps, options)
  const relyingParty = await discovered(file, steps, deps)
  const { result, confirmation } = await deps.store.transactionConfirmed(async (tx) => {
    const inside = { ...deps, relyingParty, store: storeWithin(deps.store, tx) }
    return await applyWithin(tx, { file, options: { ...options, secrets } }, inside)
  })
  return { ...result, confirmation }
}

type Secrets = ReadonlyMap<string, string>
type Options = ApplyOptions & { readonly secrets: Secrets }

/** Resolves all references to secrets in a file; returns the secrets by reference. */
function resolved(file: ConfigurationFile, { resolve }: ApplyOptions): Secrets {
  const secrets = new Map<string, string>()
  for (const key of sectionKeys) {
    for (const [name, entry] of file.entries[key]) {
      for (const path of sections[key].secretPaths(entry)) {
        const reference = referenceIn(entry, path)
        const secret = secrets.get(reference) ?? resolve(reference)
        if (secret === undefined || secret === '') {
          const where = file.where(key, name, path)
          throw new Problem('invalid_input', `${where}: There is no secret behind ${reference}.`)
        }
        secrets.set(reference, secret)
      }
    }
  }
  return secrets
}

async function look(
  file: ConfigurationFile,
  { label, prune, secrets, breath }: Options & { readonly breath?: Breath },
  deps: ConfigurationDeps,
): Promise<{
  organization: OrganizationRecord | undefined
  services: ConfigurationServices
  state: State
  steps: Step[]
}> {
  const services = openServices(deps)
  const organization = await organizations.findBySlug(deps.store, file.slug)
  const state =
    organization === undefined ? emptyState() : await readState(organization, services, breath)
  const nowMs = deps.clock.now()
  const steps = await compare(file, state, { label, prune, nowMs, secrets, services, breath })
  return { organization, services, state, steps }
}

/** Fetches the discovery documents of new or changed connections, so that the transaction has them ready. */
async function discovered(
  file: ConfigurationFile,
  steps: readonly Step[],
  deps: ConfigurationDeps,
): Promise<RelyingParty> {
  const { connections } = openServices(deps)
  const providers = new Map<string, Provider>()
  for (const { section, change, name, entry } of steps) {
    if (section.key !== 'connections' || change === 'remove') continue
    const issuer = String(entry['issuer'])
    const kind = entry['client_secret'] === null ? 'key' : 'secret'
    try {
      providers.set(issuer, await connections.discover(issuer, kind))
    } catch (error) {
      throw placedAt((field) => file.where('connections', name, field), error)
    }
  }
  return {
    ...deps.relyingParty,
    provider: async (issuer) => {
      const known = providers.get(issuer)
      if (known !== undefined) return known
      throw new Problem('version_conflict', 'The organization was changed meanwhile. Apply again.')
    },
  }
}

async function applyWithin(
  tx: Tx,
  { file, options }: { readonly file: ConfigurationFile; readonly options: ApplyBy & Options },
  deps: ConfigurationDeps,
): Promise<Omit<Applied, 'confirmation'>> {
  const { organization: found, services, state, steps } = await look(file, options, deps)
  refuseForbidden(file, steps, options)
  const organization = found ?? (await create(file, services, options.actor))
  const scene = sceneOf(organization, { services, state, actor: options.actor })
  const { label, secrets } = options
  for (const step of steps) await take(step, file, { scene, secrets })
  // Also removes the records of things that are gone: a leftover record would keep people from changing another thing
  // of that name.
  for (const row of options.prune ? noLongerNamed(file, state, label) : []) {
    await managed.remove(tx, organization.id, row)
  }
  const rows = ownedRows({ file, state, services, label, secrets, organization, idOf: scene.idOf })
  // Managing a thing locks it for everyone else, so it requires the same permission as changing it, even if the apply
  // changes nothing.
  refuseForbidden(
    file,
    rows.map(({ section, name }) => ownershipOf(section as SectionKey, name)),
    options,
  )
  await managed.put(tx, organization.id, rows)
  if (steps.length > 0 || rows.length > 0) note(tx, organization, { steps, options })
  options.onIssued?.(scene.issued)
  return { differences: steps.map(toDifference), issued: scene.issued }
}

/** Refuses steps whose section needs a permission that the caller lacks. */
function refuseForbidden(
  file: ConfigurationFile,
  steps: readonly Pick<Step, 'section' | 'name' | 'subject'>[],
  { permissions }: ApplyOptions,
): void {
  if (permissions === undefined) return
  const missing = steps.find(({ section }) => !permissions.includes(section.permission))
  if (missing === undefined) return
  const { section, name, subject } = missing
  throw new Problem(
    'permission_required',
    `${file.where(section.key, name)}: A change of ${subject} needs ${section.permission}.`,
    { members: { permission: section.permission } },
  )
}

function ownershipOf(key: SectionKey, name: string): Pick<Step, 'section' | 'name' | 'subject'> {
  const section = sections[key]
  return { section, name, subject: `the ownership of ${section.noun} ${name}` }
}

async function create(
  { slug, entries }: ConfigurationFile,
  { organizations: owners }: ConfigurationServices,
  actor: Actor,
): Promise<OrganizationRecord> {
  const { name, plan } = entries.organization.get(slug) ?? {}
  const fields = {
    slug,
    name: name as string | undefined,
    plan: plan as 'standard' | 'enterprise' | undefined,
  }
  return await owners.create(fields, actor)
}

function sceneOf(
  organization: OrganizationRecord,
  of: { services: ConfigurationServices; state: State; actor: Actor },
): Scene & { readonly note: (section: SectionKey, name: string, id: string | undefined) => void } {
  const made = new Map<string, string | undefined>()
  return {
    organization,
    ...{ services: of.services, actor: of.actor },
    issued: [],
    note: (section, name, id) => void made.set(`${section} ${name}`, id),
    idOf: (section, name) =>
      made.get(`${section} ${name}`) ?? of.state.things[section].get(name)?.id,
    nameOf: () => undefined,
  }
}

async function take(
  step: Step,
  file: ConfigurationFile,
  { scene, secrets }: { readonly scene: ReturnType<typeof sceneOf>; readonly secrets: Secrets },
): Promise<void> {
  const { section, name, entry, before } = step
  const secretAt = (path: string): string => secrets.get(referenceIn(entry, path)) ?? ''
  try {
    if (step.change === 'remove') {
      await section.remove(before?.id ?? '', scene)
      return
    }
    const id = await section.put({ name, entry, before, secretAt }, scene)
    scene.note(section.key, name, id)
  } catch (error) {
    throw placedAt((field) => file.where(section.key, name, field), error)
  }
}

function note(
  tx: Tx,
  { id }: OrganizationRecord,
  { steps, options }: { readonly steps: readonly Step[]; readonly options: ApplyBy },
): void {
  const changes = steps.map(({ change, subject }) => `${change} ${subject}`).slice(0, 100)
  record(tx, {
    organizationId: id,
    actor: options.actor,
    action: 'configuration.applied',
    subject: { kind: 'organization', id },
    detail: { label: options.label, differences: steps.length, changes },
  })
}

function toDifference({ change, subject, fields }: Step): Difference {
  return { change, subject, fields }
}
