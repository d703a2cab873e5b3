import { createLinks } from '../../organizations/index.ts'
import { command } from '../lib/command.ts'
import { withRooms } from '../lib/services.ts'

export const commands = {
  '': command({
    usage: '<email>',
    about: 'a single-use link that signs a known person in (1 h), for emergencies',
    run: async ({ positionals: [email = ''] }, terminal) =>
      await withRooms(terminal, async ({ store, clock, config }) => {
        const { baseUrl } = config
        const url = await createLinks({ store, clock, baseUrl }).signInLink(email)
        return { data: { url }, text: url }
      }),
  }),
}
