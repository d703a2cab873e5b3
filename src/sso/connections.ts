import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { createId, type OrganizationId } from '../ids.ts'
import {
  checkedIssuer,
  clientAuthenticationFor,
  type Client,
  type RelyingParty,
} from '../oidc/index.ts'
import type { Provider } from '../oidc/index.ts'
import { mintClientKey, type Sealer } from '../secrets/index.ts'
import {
  connections,
  identities,
  type Actor,
  type ConnectionId,
  type ConnectionRecord,
  type Store,
} from '../store/index.ts'
import {
  addressesOf,
  openReservation,
  sealReservation,
  type ConnectionAddresses,
} from './connection-addresses.ts'
import { keepWayIn, noteRefusedSave } from './connection-guards.ts'
import { announce, describe } from './connection-news.ts'
import { checkClient, checkSecret, kindOf, nameFor } from './connection-checks.ts'
import {
  settingsFor,
  settingsFromRow,
  type ConnectionKind,
  type ConnectionSettings,
  type SettingsInput,
} from './connection-settings.ts'
import { isOwner, requireEnterprise, requirePowerOfGroups } from '../organizations/index.ts'
import { endSessionsOf } from './provider-sessions.ts'

/** A connection to an organization's OpenID provider; its credential is never part of it. */
export interface Connection
  extends Omit<ConnectionRecord, 'settings' | 'kind' | 'credentialSealed'>, ConnectionAddresses {
  readonly kind: ConnectionKind
  readonly settings: ConnectionSettings
}

/** What a person decides about a connection; without a secret it has a key of its own. */
export interface ConnectionInput extends SettingsInput {
  /** From `reserve`: the connection gets the addresses that were shown then. */
  readonly reservation?: string | undefined
  readonly name?: string | undefined
  readonly kind?: ConnectionKind | undefined
  readonly issuer: string
  readonly clientId: string
  readonly credential:
    | { readonly kind: 'secret'; readonly secret: string }
    | { readonly kind: 'key' }
}

/** A change of a connection: what is left out stays. A new issuer or client id needs the credential again. */
export interface ConnectionChange extends SettingsInput {
  readonly name?: string | undefined
  readonly issuer?: string | undefined
  readonly clientId?: string | undefined
  readonly credential?: ConnectionInput['credential'] | undefined
}

/** Connections of organizations: connect, change, switch off, find for a sign-in. */
export interface Connections {
  list(organizationId: OrganizationId): Promise<Connection[]>
  /** `not_found`. */
  get(organizationId: OrganizationId, id: string): Promise<Connection>
  /** Whom its deletion, or another issuer, would touch. `not_found`. */
  dependents(
    organizationId: OrganizationId,
    id: string,
  ): Promise<{ people: number; onlyThis: number; owners: number }>
  /** Fetches what an issuer says of itself, fresh; the `idp_…` problems. */
  discover(issuer: string, credential?: 'secret' | 'key'): Promise<Provider>
  /** The addresses of a connection that is still to be made, for a week: most providers want them first. */
  reserve(organizationId: OrganizationId): Promise<ConnectionAddresses & { reservation: string }>
  /** Discovers and saves. `plan_required`, `invalid_input`, the `idp_…` problems. */
  connect(
    organizationId: OrganizationId,
    wish: ConnectionInput & { makeDefault?: boolean | undefined },
    actor: Actor,
  ): Promise<Connection>
  /** `not_found`, `version_conflict`, `invalid_input`, the `idp_…` problems. */
  change(
    organizationId: OrganizationId,
    id: string,
    change: ConnectionChange,
    actor: Actor,
    expectedVersion?: number,
  ): Promise<Connection>
  /** Makes it the one for people who name the organization only. `not_found`. */
  makeDefault(organizationId: OrganizationId, id: string, actor: Actor): Promise<Connection>
  /** A disabled connection lets nobody in, not even who is at the provider right now. `not_found`. */
  setDisabled(
    organizationId: OrganizationId,
    id: string,
    disabled: boolean,
    actor: Actor,
  ): Promise<Connection>
  remove(organizationId: OrganizationId, id: string, actor: Actor): Promise<void>
  /** The client of a connection, its credential opened, for one sign-in. */
  clientOf(connection: Connection): Promise<Client>
  /** The connection that a sign-in address names, of whichever organization. */
  findForSignIn(id: string): Promise<Connection | undefined>
}

interface Needs {
  readonly store: Store
  readonly sealer: Sealer
  readonly clock: Clock
  readonly relyingParty: RelyingParty
  /** The base address of sign-in: {auth_url}. */
  readonly authUrl: string
  readonly allowLoopback: boolean
}

const maxConnections = 100

/** Opens the connections' rules. */
export function createConnections(deps: Needs): Connections {
  const { store, sealer, relyingParty } = deps

  async function get(organizationId: OrganizationId, id: string): Promise<Connection> {
    return present(await row(organizationId, id))
  }

  async function row(organizationId: OrganizationId, id: string): Promise<ConnectionRecord> {
    const found = await connections.find(store, organizationId, id)
    if (!found) throw notFound()
    return found
  }

  async function discover(issuer: string, credential?: 'secret' | 'key'): Promise<Provider> {
    checkedIssuer(issuer, deps.allowLoopback)
    const provider = await relyingParty.provider(issuer, { fresh: true, freshKeys: true })
    if (credential !== undefined) clientAuthenticationFor(provider, credential)
    return provider
  }

  async function sealed(
    id: ConnectionId,
    organizationId: string,
    wish: ConnectionInput['credential'],
  ) {
    const context = sealContext(organizationId, id)
    if (wish.kind === 'secret') {
      checkSecret(wish.secret)
      return {
        credentialKind: 'secret',
        credentialSealed: sealer.seal(wish.secret, context),
        publicJwk: undefined,
      } as const
    }
    const { privateJwk, publicJwk } = await mintClientKey(id)
    return {
      credentialKind: 'key',
      credentialSealed: sealer.seal(JSON.stringify(privateJwk), context),
      publicJwk: JSON.stringify(publicJwk),
    } as const
  }

  function present(stored: ConnectionRecord): Connection {
    const { credentialSealed: _, ...shown } = stored
    const kind = stored.kind as ConnectionKind
    const settings = settingsFromRow(kind, stored.settings)
    return { ...shown, kind, settings, ...addressesOf(deps.authUrl, stored.id) }
  }

  /** A fresh id, or the one that was reserved here and not yet used. */
  async function idFor(organizationId: string, reservation: string | undefined) {
    if (reservation === undefined) return createId('con')
    const id = openReservation(sealer, organizationId, {
      reservation,
      nowMs: deps.clock.now(),
    })
    if (id === undefined || (await connections.findForSignIn(store, id)) !== undefined) {
      throw new Problem('invalid_input', 'The reservation is too old or was used. Reload the page.')
    }
    return id
  }

  return {
    get,
    discover,
    dependents: async (organizationId, id) =>
      await identities.countDependents(store.slowReads, await row(organizationId, id)),
    async reserve(organizationId) {
      await requireEnterprise(store, organizationId)
      const id = createId('con')
      const reservation = sealReservation(sealer, organizationId, { id, at: deps.clock.now() })
      return { ...addressesOf(deps.authUrl, id), reservation }
    },
    list: async (organizationId) => (await connections.list(store, organizationId)).map(present),
    async connect(organizationId, wish, actor) {
      await requireEnterprise(store, organizationId)
      const { issuer, clientId } = checkClient(wish)
      const settings = settingsFor(wish.kind ?? kindOf(issuer), wish)
      const subject = { kind: 'organization', id: organizationId }
      await noteRefusedSave(store, { organizationId, subject, actor, issuer }, async () => {
        await discover(issuer, wish.credential.kind)
      })
      const id = await idFor(organizationId, wish.reservation)
      const credential = await sealed(id, organizationId, wish.credential)
      return await store.transaction(async (tx) => {
        await requirePowerOfGroups(tx, { organizationId, actor }, rolesGiven(settings))
        const existing = await connections.list(tx, organizationId)
        if (existing.length >= maxConnections) {
          throw new Problem(
            'conflict',
            `An organization has at most ${maxConnections} connections.`,
          )
        }
        const made = await connections.insert(tx, {
          id,
          organizationId,
          name: nameFor(wish.name, issuer),
          kind: wish.kind ?? kindOf(issuer),
          issuer,
          clientId,
          ...credential,
          settings: { ...settings },
          setByOwner: await isOwner(tx, organizationId, actor),
          isDefault: existing.length === 0,
        })
        if (wish.makeDefault === true) await connections.setDefault(tx, organizationId, id)
        announce(tx, made, { actor, change: 'created', detail: describe(made) })
        return present({ ...made, isDefault: existing.length === 0 || wish.makeDefault === true })
      })
    },
    async change(organizationId, id, change, actor, expectedVersion) {
      await requireEnterprise(store, organizationId)
      const before = await row(organizationId, id)
      const { issuer, clientId } = checkClient({
        issuer: change.issuer ?? before.issuer,
        clientId: change.clientId ?? before.clientId,
      })
      const moved = issuer !== before.issuer || clientId !== before.clientId
      // Else whoever may edit could have the sealed secret sent to a provider of their own.
      if (moved && change.credential === undefined) {
        throw new Problem(
          'invalid_input',
          'Another issuer or client id needs its credential again.',
        )
      }
      const kind = before.kind as ConnectionKind
      const settings = settingsFor(kind, change, settingsFromRow(kind, before.settings))
      const subject = { kind: 'connection', id: before.id }
      const save = { organizationId, subject, actor, issuer }
      const provider = await noteRefusedSave(
        store,
        save,
        async () => await discover(issuer, change.credential?.kind ?? before.credentialKind),
      )
      const hasOtherSubjects =
        issuer === before.issuer && clientId !== before.clientId && provider.hasPairwiseSubjects
      const credential =
        change.credential === undefined
          ? {
              credentialKind: before.credentialKind,
              credentialSealed: before.credentialSealed,
              publicJwk: before.publicJwk,
            }
          : await sealed(before.id, organizationId, change.credential)
      return await store.transaction(async (tx) => {
        await requirePowerOfGroups(tx, { organizationId, actor }, rolesGiven(settings))
        const after = await connections.update(tx, {
          organizationId,
          id,
          change: {
            name: change.name === undefined ? before.name : nameFor(change.name, issuer),
            kind,
            issuer,
            clientId,
            ...credential,
            settings: { ...settings },
            setByOwner: await isOwner(tx, organizationId, actor),
            expectedVersion: expectedVersion ?? before.version,
          },
        })
        if (!after) {
          throw new Problem('version_conflict', 'The connection was changed in the meantime.')
        }
        if (hasOtherSubjects) await identities.bindToClient(tx, before)
        // An owner who saves it stands behind the links that it has made.
        if (after.setByOwner) await identities.vouch(tx, { connectionId: after.id, issuer })
        // People who came in by the old provider were vouched for by somebody else.
        if (moved) await endSessionsOf(tx, after, actor)
        const detail = {
          before: describe(before),
          after: describe(after),
          credential: change.credential === undefined ? 'kept' : 'replaced',
        }
        announce(tx, after, { actor, change: 'edited', detail })
        return present(after)
      })
    },
    async makeDefault(organizationId, id, actor) {
      await row(organizationId, id)
      return await store.transaction(async (tx) => {
        await connections.setDefault(tx, organizationId, id)
        const after = await connections.find(tx, organizationId, id)
        if (!after) throw notFound()
        announce(tx, after, { actor, change: 'made_default' })
        return present(after)
      })
    },
    async setDisabled(organizationId, id, disabled, actor) {
      const before = await row(organizationId, id)
      if ((before.disabledAt !== undefined) === disabled) return present(before)
      const { result } = await store.transactionConfirmed(async (tx) => {
        const after = await connections.setDisabled(tx, {
          organizationId,
          id,
          disabledAt: disabled ? tx.now : null,
        })
        if (!after) throw notFound()
        if (!disabled) {
          const roles = rolesGiven(present(after).settings)
          await requirePowerOfGroups(tx, { organizationId, actor }, roles)
        }
        if (disabled) await keepWayIn(tx, organizationId)
        if (disabled) await endSessionsOf(tx, after, actor)
        announce(tx, after, { actor, change: disabled ? 'disabled' : 'enabled' })
        return present(after)
      })
      return result
    },
    async remove(organizationId, id, actor) {
      const before = await row(organizationId, id)
      await store.transactionConfirmed(async (tx) => {
        await connections.lock(tx, organizationId, id)
        await endSessionsOf(tx, before, actor)
        await connections.remove(tx, organizationId, id)
        await keepWayIn(tx, organizationId)
        announce(tx, before, { actor, change: 'removed' })
      })
    },
    async clientOf(connection) {
      const { credentialKind, credentialSealed } = await row(
        connection.organizationId,
        connection.id,
      )
      const opened = sealer.open(
        credentialSealed,
        sealContext(connection.organizationId, connection.id),
      )
      return {
        clientId: connection.clientId,
        redirectUri: connection.redirectUri,
        credential:
          credentialKind === 'secret'
            ? { kind: 'secret', secret: opened }
            : { kind: 'key', privateJwk: JSON.parse(opened) as Record<string, unknown> },
      }
    },
    async findForSignIn(id) {
      const found = await connections.findForSignIn(store, id)
      return found && present(found)
    },
  }
}

function rolesGiven({ groupRoles }: ConnectionSettings) {
  return groupRoles.map(({ role }) => role)
}

function sealContext(organizationId: string, id: string): readonly string[] {
  return [organizationId, id, 'credential']
}

function notFound(): Problem {
  return new Problem('not_found', 'There is no such connection in this organization.')
}
