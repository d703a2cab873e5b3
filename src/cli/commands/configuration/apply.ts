import { command } from '../../lib/command.ts'
import { differencesText, readConfiguration, withConfigurations } from '../../lib/configuration.ts'
import { openSink } from '../../lib/secret-sink.ts'
import { withServices } from '../../lib/services.ts'

export const commands = {
  '': command({
    usage: '<file> [--prune] [--new-secrets file:PATH|stdout]',
    about: 'make an organization what the file says, in one transaction: all of it or nothing',
    options: {
      prune: { type: 'boolean', about: 'remove things that the file made and no longer names' },
      'new-secrets': {
        type: 'string',
        value: 'file:PATH|stdout',
        about: 'where the secrets of newly issued keys go, once, as JSON',
      },
    },
    examples: ['intercept apply acme.yaml --prune --new-secrets file:/run/secrets/keys.json'],
    run: async ({ values, positionals: [file = ''] }, terminal) => {
      const { text, ...source } = await readConfiguration(file, terminal)
      const options = { ...source, prune: values.prune === true }
      await using sink = openSink(values['new-secrets'])
      return await withServices(
        terminal,
        async (services) =>
          await withConfigurations(services, async ({ apply }) => {
            const { actor } = services
            const by = { ...options, actor, permissions: undefined, onIssued: sink.write }
            const { differences, issued } = await apply(text, by)
            sink.keep()
            const shown = sink.shows(issued)
            const lines = [differencesText(differences), ...shown.map((key) => JSON.stringify(key))]
            return { data: { applied: differences, keys: shown }, text: lines.join('\n') }
          }),
        { creates: true },
      )
    },
  }),
}
