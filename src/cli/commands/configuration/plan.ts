import { plan } from '../../../configuration/index.ts'
import { BadFinding, command } from '../../lib/command.ts'
import { depsOf, differencesText, readFileOf } from '../../lib/configuration.ts'
import { withServices } from '../../lib/services.ts'

export const commands = {
  '': command({
    usage: '<file>',
    about: 'what applying the file would change; changes nothing',
    options: {
      prune: { type: 'boolean', about: 'also what --prune would remove' },
      'expect-none': { type: 'boolean', about: 'exit 1 when there is any difference' },
    },
    examples: ['intercept plan acme.yaml --expect-none'],
    run: async ({ values, positionals: [file = ''] }, terminal) => {
      const { wanted } = await readFileOf(file)
      return await withServices(terminal, async (services) => {
        const prune = values.prune === true
        const differences = await plan(wanted, { prune }, depsOf(services, terminal))
        const answer = { data: { differences }, text: differencesText(differences) }
        if (values['expect-none'] === true && differences.length > 0) throw new BadFinding(answer)
        return answer
      })
    },
  }),
}
