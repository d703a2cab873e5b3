import { presentConfiguration, renderConfiguration } from '../../../configuration/index.ts'
import { createOrganizations } from '../../../organizations/index.ts'
import { createTargets } from '../../../targets/index.ts'
import { command } from '../../lib/command.ts'
import { depsOf } from '../../lib/configuration.ts'
import { withServices } from '../../lib/services.ts'

export const commands = {
  '': command({
    usage: '<org>',
    about: "an organization's configuration as YAML; credentials by reference, never themselves",
    examples: ['intercept export acme'],
    run: async ({ positionals: [slug = ''] }, terminal) =>
      await withServices(terminal, async (services) => {
        const deps = depsOf(services, terminal)
        const organization = await createOrganizations(services).get(slug)
        const targets = createTargets(deps)
        const present = await presentConfiguration(organization, {
          targets,
          defaults: deps.defaults,
        })
        return { data: present, text: renderConfiguration(present).trimEnd() }
      }),
  }),
}
