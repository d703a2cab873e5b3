// Writes as fast as it can and prints what was acknowledged, until it is killed.
import { Keys } from '../../src/access/index.ts'
import { systemClock } from '../../src/clock.ts'
import type { OrganizationId } from '../../src/ids.ts'
import { openStore } from '../../src/store/index.ts'

const [folder = '', databaseUrl = '', organizationId = '', workers = '8'] = process.argv.slice(2)

const store = await openStore({
  folder,
  databaseUrl: databaseUrl === '-' ? undefined : databaseUrl,
  clock: systemClock,
  isNode: true,
})
const keys = new Keys({ store, clock: systemClock })
const organization = organizationId as OrganizationId
const actor = { kind: 'operator', name: 'torture' } as const
say('ready')
await Promise.all(Array.from({ length: Number(workers) }, work))

async function work(): Promise<void> {
  for (let at = 0; ; at++) {
    try {
      const input = { name: `torture ${at}`, scheme: 'x-api-key' } as const
      const { key, secret } = await keys.issue(organization, input, actor)
      say(`issued ${key.id} ${secret.reveal()}`)
      if (at % 2 === 0) {
        await keys.revoke(organization, key.id, actor)
        say(`revoked ${key.id}`)
      }
    } catch (error) {
      say(`refused ${error instanceof Error ? error.message.replaceAll('\n', ' ') : 'unknown'}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
