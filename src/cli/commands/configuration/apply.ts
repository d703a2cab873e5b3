import { applyConfiguration } from '../../../configuration/index.ts'
import { command } from '../../lib/command.ts'
import { depsOf, differencesText, readFileOf } from '../../lib/configuration.ts'
import { withServices } from '../../lib/services.ts'

export const commands = {
  '': command({
    usage: '<file>',
    about: 'make an organization what the file says, in one transaction: all of it or nothing',
    options: {
      prune: { type: 'boolean', about: 'remove targets that the file made and no longer names' },
    },
    examples: ['intercept apply acme.yaml --prune'],
    run: async ({ values, positionals: [file = ''] }, terminal) => {
      const { label, wanted } = await readFileOf(file)
      return await withServices(
        terminal,
        async (services) => {
          const options = { label, prune: values.prune === true, actor: services.actor }
          const done = await applyConfiguration(wanted, options, depsOf(services, terminal))
          return { data: { applied: done }, text: differencesText(done) }
        },
        { creates: true },
      )
    },
  }),
}
