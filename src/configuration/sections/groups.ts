import { requirePowerOfGroups } from '../../organizations/index.ts'
import { directoryGroups, type GroupRole, type Store } from '../../store/index.ts'
import { object, words } from './fields.ts'
import { noSecrets, type Scene, type Section } from './section.ts'

/** Roles granted by directory groups; a group that does not exist yet gets its role when it arrives. */
export const groupSection: Section = {
  key: 'groups',
  noun: 'group',
  permission: 'sso.manage',
  hasUniqueNames: true,
  schema: object({ role: words(['admin', 'developer', 'viewer'], 'What its members may do.') }, [
    'role',
  ]),
  loose: [],
  secretPaths: () => [],
  defaults: () => ({}),
  tidy: (entry) => entry,
  async present({ organization, services }) {
    const found = await directoryGroups.listNames(services.store, organization.id)
    return found.flatMap(({ id, name, role }) =>
      role === undefined ? [] : [{ id, name, entry: { role }, secrets: noSecrets }],
    )
  },
  async put({ name, entry, before }, { organization, services, actor }) {
    const known = before?.id ?? ''
    const id = known === '' ? (await idsOf({ organization, services })).get(name) : known
    const role = entry['role'] as GroupRole
    const caller = { organizationId: organization.id, actor }
    if (id !== undefined) await services.groups.setRole(caller, id, role)
    // The permission is checked now, because the role is granted without another check when the group arrives.
    else await requirePower(services.store, caller, role)
    return id
  },
  async remove(id, { organization, services, actor }) {
    const caller = { organizationId: organization.id, actor }
    if (id !== '') await services.groups.setRole(caller, id, undefined)
  },
}

/** The groups are listed once for each apply, which changes their roles but never their names. */
const listed = new WeakMap<Scene['services'], Promise<ReadonlyMap<string, string>>>()

/** Returns the ids of an organization's groups by name; if several groups have the same name, the oldest counts. */
async function idsOf({
  organization,
  services,
}: Pick<Scene, 'organization' | 'services'>): Promise<ReadonlyMap<string, string>> {
  let ids = listed.get(services)
  if (ids === undefined) {
    ids = directoryGroups
      .listNames(services.store, organization.id)
      .then((found) => new Map(found.toReversed().map(({ id, name }) => [name, id])))
    listed.set(services, ids)
  }
  return await ids
}

async function requirePower(
  store: Store,
  by: Parameters<typeof requirePowerOfGroups>[1],
  role: GroupRole,
): Promise<void> {
  await store.transaction(async (tx) => await requirePowerOfGroups(tx, by, [role]))
}
