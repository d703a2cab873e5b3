import { Links, Organizations } from '../../organizations/index.ts'
import { command } from '../lib/command.ts'
import { withServices } from '../lib/services.ts'

export const commands = {
  '': command({
    usage: '<email>|<user-id> [--org ORG]',
    about: 'print a single-use link that signs a known person in (1 h), for emergencies',
    options: {
      org: {
        type: 'string',
        value: 'ORG',
        about: 'the organization whose member is meant, where an address has several accounts',
      },
    },
    local: {
      because: 'only whoever can reach the database may let a person in without their provider',
    },
    examples: ['intercept sign-in-link ada@example.com'],
    run: async ({ values, positionals: [who = ''] }, terminal) =>
      await withServices(terminal, async (services) => {
        const { store, clock, config, actor } = services
        const links = new Links({ store, clock, baseUrl: config.baseUrl })
        const organizationId =
          values.org === undefined
            ? undefined
            : (await new Organizations(services).get(values.org)).id
        const url = await links.signInLink(who, { organizationId, actor })
        return { data: { url }, text: url }
      }),
  }),
}
