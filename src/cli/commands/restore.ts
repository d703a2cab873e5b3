import { resolve } from 'node:path'
import { readConfig } from '../../config.ts'
import { restoreBackup } from '../../store/index.ts'
import { command } from '../lib/command.ts'

export const commands = {
  '': command({
    usage: '<file>',
    about: 'put a backup into a DATA_DIR without a database; overwrites nothing',
    local: { because: 'it writes the files of the database' },
    examples: ['DATA_DIR=./data intercept restore /backups/intercept.db'],
    run: async ({ positionals: [name = ''] }, terminal) => {
      const config = readConfig(terminal.env)
      if (config.databaseUrl !== undefined) {
        throw new Error('DATABASE_URL is set: a PostgreSQL database is restored with pg_restore.')
      }
      const file = resolve(name)
      await restoreBackup(file, config.dataDir)
      return {
        data: { file, data_dir: config.dataDir },
        text: `${file} is now the database in ${config.dataDir}.\nWhat was revoked after the backup was made works again: revoke it once more before you start.`,
      }
    },
  }),
}
