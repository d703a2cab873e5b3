import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { createId, type OrganizationId } from '../ids.ts'
import {
  checkedIssuer,
  clientAuthenticationFor,
  type Client,
  type Provider,
  type RelyingParty,
} from '../oidc/index.ts'
import type { Sealer } from '../secrets/index.ts'
import {
  connections,
  identities,
  type Actor,
  type ConnectionId,
  type ConnectionRecord,
  type Store,
  type Tx,
} from '../store/index.ts'
import {
  addressesOf,
  openReservation,
  sealReservation,
  type ConnectionAddresses,
} from './connection-addresses.ts'
import {
  checkClient,
  kindOf,
  nameFor,
  openCredential,
  sealCredential,
  type CredentialInput,
} from './connection-client.ts'
import { keepWayIn, noteRefusedSave, type Save } from './connection-guards.ts'
import { announce, describe } from './connection-news.ts'
import {
  settingsFor,
  settingsFromRow,
  type ConnectionKind,
  type ConnectionSettings,
  type SettingsInput,
} from './connection-settings.ts'
import { isOwner, requireEnterprise, requirePowerOfGroups } from '../organizations/index.ts'
import { endSessionsOf } from './provider-sessions.ts'

/** A connection to an organization's OpenID provider, without its credential. */
export interface Connection
  extends Omit<ConnectionRecord, 'settings' | 'kind' | 'credentialSealed'>, ConnectionAddresses {
  readonly kind: ConnectionKind
  readonly settings: ConnectionSettings
}

export interface ConnectionInput extends SettingsInput {
  /** From `reserve`: the connection gets the addresses that were shown then. */
  readonly reservation?: string | undefined
  readonly name?: string | undefined
  readonly kind?: ConnectionKind | undefined
  readonly issuer: string
  readonly clientId: string
  readonly credential: CredentialInput
  readonly makeDefault?: boolean | undefined
}

/**
 * A change to a connection; omitted members stay as they are. With a new issuer or client id, the credential must be
 * given again.
 */
export interface ConnectionChange extends SettingsInput {
  readonly name?: string | undefined
  readonly issuer?: string | undefined
  readonly clientId?: string | undefined
  readonly credential?: CredentialInput | undefined
}

interface ConnectionsDeps {
  readonly store: Store
  readonly sealer: Sealer
  readonly clock: Clock
  readonly relyingParty: RelyingParty
  /** The base URL of sign-in (AUTH_URL). */
  readonly authUrl: string
  readonly allowLoopback: boolean
}

const maxConnections = 100

/** Manages the connections of organizations, and finds the one for a sign-in. */
export class Connections {
  readonly #deps: ConnectionsDeps

  constructor(deps: ConnectionsDeps) {
    this.#deps = deps
  }

  async list(organizationId: OrganizationId): Promise<Connection[]> {
    const found = await connections.list(this.#deps.store, organizationId)
    return found.map((row) => this.#present(row))
  }

  /** Throws `not_found`. */
  async get(organizationId: OrganizationId, id: string): Promise<Connection> {
    return this.#present(await this.#row(organizationId, id))
  }

  /**
   * Counts whom it would affect if the connection were deleted or got another issuer. `people` are the active members
   * who sign in through it, `onlyThis` are the people without another way to sign in, and `owners` are the owners among
   * `onlyThis`. Throws `not_found`.
   */
  async dependents(
    organizationId: OrganizationId,
    id: string,
  ): Promise<{ people: number; onlyThis: number; owners: number }> {
    const row = await this.#row(organizationId, id)
    return await identities.countDependents(this.#deps.store.slowReads, row)
  }

  /**
   * Fetches an issuer's discovery document, bypassing every cache. Throws an `idp_…` problem if that fails or the
   * document is not acceptable.
   */
  async discover(issuer: string, credential?: 'secret' | 'key'): Promise<Provider> {
    const { relyingParty, allowLoopback } = this.#deps
    checkedIssuer(issuer, allowLoopback)
    const provider = await relyingParty.provider(issuer, { fresh: true, freshKeys: true })
    if (credential !== undefined) clientAuthenticationFor(provider, credential)
    return provider
  }

  /**
   * Reserves the addresses of a future connection for a week, because most providers need them before they give out a
   * client id. Throws `plan_required`.
   */
  async reserve(
    organizationId: OrganizationId,
  ): Promise<ConnectionAddresses & { reservation: string }> {
    const { store, sealer, clock, authUrl } = this.#deps
    await requireEnterprise(store, organizationId)
    const id = createId('con')
    const reservation = sealReservation(sealer, organizationId, { id, at: clock.now() })
    return { ...addressesOf(authUrl, id), reservation }
  }

  /**
   * Discovers the provider and saves the connection. Throws `plan_required`, `permission_required`, `invalid_input`,
   * `conflict` or an `idp_…` problem.
   */
  async connect(
    organizationId: OrganizationId,
    input: ConnectionInput,
    actor: Actor,
  ): Promise<Connection> {
    const { store, sealer } = this.#deps
    await requireEnterprise(store, organizationId)
    const { issuer, clientId } = checkClient(input)
    const kind = input.kind ?? kindOf(issuer)
    const settings = settingsFor(kind, input)
    const subject = { kind: 'organization', id: organizationId }
    await this.#discoverFor({ organizationId, subject, actor, issuer }, input.credential.kind)
    const id = await this.#idFor(organizationId, input.reservation)
    const credential = await sealCredential(sealer, { organizationId, id }, input.credential)
    return await store.transaction(async (tx) => {
      await requirePowerOfGroups(tx, { organizationId, actor }, rolesGiven(settings))
      const existing = await connections.list(tx, organizationId)
      if (existing.length >= maxConnections) {
        throw new Problem('conflict', `An organization has at most ${maxConnections} connections.`)
      }
      const isFirst = existing.length === 0
      const made = await connections.insert(tx, {
        ...{ id, organizationId, kind, issuer, clientId, ...credential },
        name: nameFor(input.name, issuer),
        settings: { ...settings },
        setByOwner: await isOwner(tx, organizationId, actor),
        isDefault: isFirst,
      })
      if (input.makeDefault === true) await connections.setDefault(tx, organizationId, id)
      announce(tx, made, { actor, change: 'created', detail: describe(made) })
      return this.#present({ ...made, isDefault: isFirst || input.makeDefault === true })
    })
  }

  /**
   * Throws `plan_required`, `permission_required`, `not_found`, `version_conflict`, `invalid_input` or an `idp_…`
   * problem.
   */
  async change(
    organizationId: OrganizationId,
    id: string,
    edit: { change: ConnectionChange; actor: Actor; expectedVersion?: number | undefined },
  ): Promise<Connection> {
    const { change, actor } = edit
    const { store } = this.#deps
    await requireEnterprise(store, organizationId)
    const before = await this.#row(organizationId, id)
    const { columns, hasMoved, hasOtherSubjects } = await this.#plan(before, change, actor)
    const save = async (tx: Tx) => {
      await requirePowerOfGroups(tx, { organizationId, actor }, rolesGiven(columns.settings))
      const setByOwner = await isOwner(tx, organizationId, actor)
      const expectedVersion = edit.expectedVersion ?? before.version
      const after = await connections.update(tx, {
        ...{ organizationId, id },
        change: { ...columns, settings: { ...columns.settings }, setByOwner, expectedVersion },
      })
      if (!after) {
        throw new Problem('version_conflict', 'The connection was changed in the meantime.')
      }
      if (hasOtherSubjects) await identities.bindToClient(tx, before)
      // By saving the connection an owner also vouches for the links that were made through it.
      if (setByOwner) await identities.vouch(tx, { connectionId: after.id, issuer: after.issuer })
      // Sessions that began with the former issuer or client id must end.
      if (hasMoved) await endSessionsOf(tx, after, actor)
      const credential = change.credential === undefined ? 'kept' : 'replaced'
      const detail = { before: describe(before), after: describe(after), credential }
      announce(tx, after, { actor, change: 'edited', detail })
      return this.#present(after)
    }
    // Only a change that has ended sessions waits for the other nodes.
    const { result } = await store.transactionConfirmed(save, { isNeeded: () => hasMoved })
    return result
  }

  /**
   * Makes a connection the default: people sign in through it unless their domain is routed to another connection.
   * Throws `not_found`.
   */
  async makeDefault(organizationId: OrganizationId, id: string, actor: Actor): Promise<Connection> {
    await this.#row(organizationId, id)
    return await this.#deps.store.transaction(async (tx) => {
      await connections.setDefault(tx, organizationId, id)
      const after = found(await connections.find(tx, organizationId, id))
      announce(tx, after, { actor, change: 'made_default' })
      return this.#present(after)
    })
  }

  /**
   * Refuses every further sign-in, even of people who are at the provider right now, and ends the connection's
   * sessions. Throws `not_found` or `last_connection`.
   */
  async disable(organizationId: OrganizationId, id: string, actor: Actor): Promise<Connection> {
    const before = await this.#row(organizationId, id)
    if (before.disabledAt !== undefined) return this.#present(before)
    const { result } = await this.#deps.store.transactionConfirmed(async (tx) => {
      const off = { organizationId, id, disabledAt: tx.now }
      const after = found(await connections.setDisabled(tx, off))
      await keepWayIn(tx, organizationId)
      await endSessionsOf(tx, after, actor)
      announce(tx, after, { actor, change: 'disabled' })
      return after
    })
    return this.#present(result)
  }

  /**
   * Enables a connection again, if the actor may assign the roles that its groups map to. Throws `not_found`,
   * `permission_required`.
   */
  async enable(organizationId: OrganizationId, id: string, actor: Actor): Promise<Connection> {
    const before = await this.#row(organizationId, id)
    if (before.disabledAt === undefined) return this.#present(before)
    const { result } = await this.#deps.store.transactionConfirmed(async (tx) => {
      const on = { organizationId, id, disabledAt: null }
      const after = found(await connections.setDisabled(tx, on))
      const roles = rolesGiven(this.#present(after).settings)
      await requirePowerOfGroups(tx, { organizationId, actor }, roles)
      announce(tx, after, { actor, change: 'enabled' })
      return after
    })
    return this.#present(result)
  }

  /** Deletes a connection and ends its sessions. Throws `not_found`, `last_connection`. */
  async remove(organizationId: OrganizationId, id: string, actor: Actor): Promise<void> {
    const before = await this.#row(organizationId, id)
    await this.#deps.store.transactionConfirmed(async (tx) => {
      await connections.lock(tx, organizationId, id)
      await endSessionsOf(tx, before, actor)
      await connections.remove(tx, organizationId, id)
      await keepWayIn(tx, organizationId)
      announce(tx, before, { actor, change: 'removed' })
    })
  }

  /** Returns the OAuth client of a connection, with its credential unsealed. */
  async clientOf({ organizationId, id, clientId, redirectUri }: Connection): Promise<Client> {
    const row = await this.#row(organizationId, id)
    return { clientId, redirectUri, credential: openCredential(this.#deps.sealer, row) }
  }

  /** Finds a connection in any organization, because the URL of a sign-in names no organization. */
  async findForSignIn(id: string): Promise<Connection | undefined> {
    const row = await connections.findForSignIn(this.#deps.store, id)
    return row && this.#present(row)
  }

  /** Computes what a change would save, after asking the provider. */
  async #plan(before: ConnectionRecord, change: ConnectionChange, actor: Actor) {
    const { organizationId } = before
    const { issuer, clientId } = checkClient({
      issuer: change.issuer ?? before.issuer,
      clientId: change.clientId ?? before.clientId,
    })
    const hasMoved = issuer !== before.issuer || clientId !== before.clientId
    // Otherwise an editor could make us send the stored secret to a provider under their control.
    if (hasMoved && change.credential === undefined) {
      throw new Problem('invalid_input', 'Another issuer or client id needs its credential again.')
    }
    const kind = before.kind as ConnectionKind
    const settings = settingsFor(kind, change, settingsFromRow(kind, before.settings))
    const subject = { kind: 'connection', id: before.id }
    const save = { organizationId, subject, actor, issuer }
    const provider = await this.#discoverFor(save, change.credential?.kind ?? before.credentialKind)
    const { credentialKind, credentialSealed, publicJwk } =
      change.credential === undefined
        ? before
        : await sealCredential(this.#deps.sealer, before, change.credential)
    const name = change.name === undefined ? before.name : nameFor(change.name, issuer)
    const credential = { credentialKind, credentialSealed, publicJwk }
    return {
      columns: { name, kind, issuer, clientId, ...credential, settings },
      hasMoved,
      /** Whether the provider will send new subjects for the same people: pairwise subjects differ by client. */
      hasOtherSubjects: hasMoved && issuer === before.issuer && provider.hasPairwiseSubjects,
    }
  }

  async #discoverFor(save: Save, credential: 'secret' | 'key'): Promise<Provider> {
    const discovery = async () => await this.discover(save.issuer, credential)
    return await noteRefusedSave(this.#deps.store, save, discovery)
  }

  /** Throws `invalid_input` if the reservation is too old or was used. */
  async #idFor(
    organizationId: OrganizationId,
    reservation: string | undefined,
  ): Promise<ConnectionId> {
    if (reservation === undefined) return createId('con')
    const { store, sealer, clock } = this.#deps
    const id = openReservation(sealer, organizationId, { reservation, nowMs: clock.now() })
    if (id === undefined || (await connections.findForSignIn(store, id)) !== undefined) {
      throw new Problem('invalid_input', 'The reservation is too old or was used. Reload the page.')
    }
    return id
  }

  async #row(organizationId: string, id: string): Promise<ConnectionRecord> {
    return found(await connections.find(this.#deps.store, organizationId, id))
  }

  #present(row: ConnectionRecord): Connection {
    const { credentialSealed: _, ...shown } = row
    const kind = row.kind as ConnectionKind
    const settings = settingsFromRow(kind, row.settings)
    return { ...shown, kind, settings, ...addressesOf(this.#deps.authUrl, row.id) }
  }
}

function rolesGiven({ groupRoles }: ConnectionSettings) {
  return groupRoles.map(({ role }) => role)
}

function found(row: ConnectionRecord | undefined): ConnectionRecord {
  if (row) return row
  throw new Problem('not_found', 'There is no such connection in this organization.')
}
