import { Problem } from '../../errors.ts'
import { nullable, object, text } from './fields.ts'
import { noSecrets, type Section } from './section.ts'

/** The mail domains that the organization claims; applying a file does not verify them. */
export const domainSection: Section = {
  key: 'domains',
  noun: 'domain',
  permission: 'sso.manage',
  hasUniqueNames: true,
  schema: object({
    connection: nullable(text(63, 'Where its people sign in; null = the default connection.')),
  }),
  loose: [],
  secretPaths: () => [],
  defaults: () => ({ connection: null }),
  tidy: (entry) => entry,
  async present({ organization, services, nameOf }) {
    const found = await services.domains.list(organization.id)
    return found.map(({ id, name, connectionId }) => {
      const connection =
        connectionId === undefined ? null : (nameOf('connections', connectionId) ?? null)
      return { id, name, entry: { connection }, secrets: noSecrets }
    })
  },
  async put({ name, entry, before }, { organization, services, actor, idOf }) {
    const named = entry['connection'] as string | null
    const connectionId = named === null ? undefined : idOf('connections', named)
    if (named !== null && connectionId === undefined) {
      throw new Problem('invalid_input', `There is no connection ${named}.`, {
        members: { field: 'connection' },
      })
    }
    const { domains } = services
    if (before === undefined) {
      return (await domains.add(organization.id, { name, connectionId }, actor)).id
    }
    return (await domains.route(organization.id, before.id, { connectionId, actor })).id
  },
  remove: async (id, { organization, services, actor }) =>
    await services.domains.remove(organization.id, id, actor),
}
