// Publishes (if told to) and delivers events, and prints the ids of acknowledged events, until it is killed.
import { systemClock, type Clock } from '../../src/clock.ts'
import { createOutbound } from '../../src/http/index.ts'
import { createId } from '../../src/ids.ts'
import { createLog } from '../../src/telemetry/index.ts'
import { createSealer } from '../../src/secrets/index.ts'
import { openStore } from '../../src/store/index.ts'
import { createWebhooks } from '../../src/webhooks/index.ts'

const [folder = '', databaseUrl = '', organizationId = '', publishes = '', ...more] =
  process.argv.slice(2)
const [aheadMs = '0', pauseMs = '12'] = more
const eventsInWork = 10

// A torture may start its last node with a clock that runs ahead, so that failed deliveries are due at once.
const clock: Clock = {
  now: () => systemClock.now() + Number(aheadMs),
  monotonic: systemClock.monotonic,
}
const store = await openStore({
  folder,
  databaseUrl: databaseUrl === '-' ? undefined : databaseUrl,
  clock,
  isNode: true,
})
const webhooks = createWebhooks({
  store,
  sealer: createSealer(['the master secret of the torture of deliveries']),
  clock,
  outbound: createOutbound({ allowLoopback: true }),
  log: createLog({ level: 'silent' }),
})
await webhooks.start()
say('ready')
if (publishes === 'publish') await Promise.all([publishOn(), publishOn()])

async function publishOn(): Promise<never> {
  for (;;) {
    const ids = Array.from({ length: eventsInWork }, () => createId('evt'))
    try {
      await store.transaction(async (tx) => {
        for (const id of ids) {
          tx.event({ organizationId, id, type: 'organization.plan_changed', data: { id } })
        }
      })
      say(`acknowledged ${ids.join(' ')}`)
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    await new Promise((resolve) => setTimeout(resolve, Number(pauseMs)))
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
