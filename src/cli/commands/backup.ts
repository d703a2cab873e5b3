import { resolve } from 'node:path'
import { command } from '../lib/command.ts'
import { withServices } from '../lib/services.ts'

export const commands = {
  '': command({
    usage: '<file>',
    about: 'copy the database into a new file while the server runs (PostgreSQL: use pg_dump)',
    local: { because: 'it copies the files of the database' },
    examples: ['intercept backup /backups/intercept.db'],
    run: async ({ positionals: [name = ''] }, terminal) =>
      await withServices(terminal, async ({ store, config }) => {
        const file = resolve(name)
        await store.backup(file)
        const key =
          config.masterSecret === undefined
            ? `${config.dataDir}/secret.key`
            : 'the value of INTERCEPT_SECRET'
        return {
          data: { file },
          text: `The database is in ${file}.\nWhat is sealed in it opens only with ${key}: keep that too, in another place.`,
        }
      }),
  }),
}
