import { requirePowerOfGroups } from '../../organizations/index.ts'
import { directoryGroups, type GroupRole, type Store } from '../../store/index.ts'
import { object, words } from './fields.ts'
import { noSecrets, type Scene, type Section } from './section.ts'

/** Roles granted by directory groups; a group that does not exist yet gets its role when it arrives. */
export const groupSection: Section = {
  key: 'groups',
  noun: 'group',
  permission: 'sso.manage',
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
    const id = known === '' ? await idOf(name, { organization, services }) : known
    const role = entry['role'] as GroupRole
    const caller = { organizationId: organization.id, actor }
    if (id !== undefined) await services.groups.setRole(caller, id, role)
    // The role is granted later, when the group arrives, without another permission check.
    else await requirePower(services.store, caller, role)
    return id
  },
  async remove(id, { organization, services, actor }) {
    const caller = { organizationId: organization.id, actor }
    if (id !== '') await services.groups.setRole(caller, id, undefined)
  },
}

/** Finds the oldest group with this name, because a directory may have several. */
async function idOf(
  name: string,
  { organization, services }: Pick<Scene, 'organization' | 'services'>,
): Promise<string | undefined> {
  const found = await directoryGroups.listNames(services.store, organization.id)
  return found.find((group) => group.name === name)?.id
}

async function requirePower(
  store: Store,
  by: Parameters<typeof requirePowerOfGroups>[1],
  role: GroupRole,
): Promise<void> {
  await store.transaction(async (tx) => await requirePowerOfGroups(tx, by, [role]))
}
