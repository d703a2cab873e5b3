import { BadFinding, command } from '../../lib/command.ts'
import { differencesText, readConfiguration, withConfigurations } from '../../lib/configuration.ts'
import { withServices } from '../../lib/services.ts'

export const commands = {
  '': command({
    usage: '<file> [--prune] [--expect-none]',
    about: 'show what applying the file would change; changes nothing',
    options: {
      prune: { type: 'boolean', about: 'show also what `apply --prune` would remove' },
      'expect-none': { type: 'boolean', about: 'exit 1 when there is any difference' },
    },
    examples: ['intercept plan acme.yaml --expect-none'],
    run: async ({ values, positionals: [file = ''] }, terminal) => {
      const { text, ...source } = await readConfiguration(file, terminal)
      const options = { ...source, prune: values.prune === true, permissions: undefined }
      const differences = await withServices(
        terminal,
        async (services) =>
          await withConfigurations(services, async ({ plan }) => await plan(text, options)),
      )
      const answer = { data: { differences }, text: differencesText(differences) }
      if (values['expect-none'] === true && differences.length > 0) throw new BadFinding(answer)
      return answer
    },
  }),
}
