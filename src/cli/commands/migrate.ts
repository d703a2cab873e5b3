import { command } from '../lib/command.ts'
import { withServices } from '../lib/services.ts'

export const commands = {
  '': command({
    usage: '',
    about: 'bring the schema up to date; `serve` does it by itself',
    local: {
      because: 'the schema is brought up to date through the database, before a node serves',
    },
    examples: ['intercept migrate'],
    run: async (_call, terminal) =>
      await withServices(
        terminal,
        async ({ store }) => ({
          data: { engine: store.engine, state: 'up_to_date' },
          text: `The schema (${store.engine}) is up to date.`,
        }),
        { creates: true, mayUpgrade: true },
      ),
  }),
}
