import { readConfig, remarks } from '../config.ts'
import { createLog } from '../log/index.ts'
import { start } from '../main.ts'
import { command } from './command.ts'

export const commands = {
  '': command({
    usage: '',
    about: 'run a node until SIGTERM; open requests then finish, and nothing is dropped',
    run: async (_call, terminal) => {
      const config = readConfig(terminal.env)
      const log = createLog({ level: config.logLevel, pretty: terminal.isPerson })
      const stopped = terminal.untilStopped()
      const running = await start(config, { log })
      for (const remark of remarks(config)) log.info({}, remark)
      await stopped
      log.info({}, 'Stopping: open requests finish first')
      await running[Symbol.asyncDispose]()
      return undefined
    },
  }),
}
