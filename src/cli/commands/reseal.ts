import { checkMasterKey, countSealed, resealAll } from '../../access/index.ts'
import { BadFinding, command } from '../lib/command.ts'
import { withServices } from '../lib/services.ts'

export const commands = {
  '': command({
    usage: '',
    about: 'seal every secret again under a new master key (INTERCEPT_SECRET=new,old)',
    local: { because: 'it needs the master keys, which never travel' },
    examples: ['INTERCEPT_SECRET="$NEW,$OLD" intercept reseal'],
    run: async (_call, terminal) =>
      await withServices(terminal, async ({ store, sealer, actor }) => {
        await checkMasterKey(store, sealer)
        const { resealed, unreadable } = await resealAll(store, sealer, actor)
        const { newest, older } = await countSealed(store, sealer)
        const rest =
          unreadable > 0
            ? `${unreadable} cannot be opened and were left as they are.`
            : older > 0
              ? `${older} were written under an older key meanwhile: restart every node with the new one, then run this again.`
              : 'The older keys can be taken out of INTERCEPT_SECRET.'
        const answer = {
          data: { resealed, unreadable, under_newest_key: newest, under_older_keys: older },
          text: `${resealed} sealed again, ${newest} under the newest key. ${rest}`,
        }
        if (unreadable > 0) throw new BadFinding(answer)
        return answer
      }),
  }),
}
