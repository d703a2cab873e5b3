import { command } from '../../lib/command.ts'
import { withConfigurations } from '../../lib/configuration.ts'
import { organizationsOf } from '../../lib/nouns.ts'
import { withServices } from '../../lib/services.ts'

export const commands = {
  '': command({
    usage: '<org>',
    about: "print an organization's configuration as YAML; secrets by reference, never themselves",
    examples: ['intercept export acme > acme.yaml'],
    run: async ({ positionals: [slug = ''] }, terminal) =>
      await withServices(terminal, async (services) => {
        const organization = await (await organizationsOf(services)).get(slug)
        return await withConfigurations(services, async (configurations) => {
          const { text, document } = await configurations.export(organization)
          return { data: document, text: text.trimEnd() }
        })
      }),
  }),
}
