import { Links } from '../../organizations/index.ts'
import { command } from '../lib/command.ts'
import { withServices } from '../lib/services.ts'

export const commands = {
  '': command({
    usage: '',
    about: 'print a new single-use link that makes the first owner (1 h); older links end',
    local: { because: 'only whoever can reach the database may make the first owner' },
    examples: ['intercept setup-link'],
    run: async (_call, terminal) =>
      await withServices(
        terminal,
        async ({ store, clock, config }) => {
          const { baseUrl } = config
          const url = await new Links({ store, clock, baseUrl }).setupLink()
          if (url === undefined) {
            throw new Error(
              'There is an owner already; `intercept sign-in-link <email>` lets a known person in.',
            )
          }
          return { data: { url }, text: url }
        },
        { creates: true },
      ),
  }),
}
