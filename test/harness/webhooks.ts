import assert from 'node:assert/strict'
import type { Clock } from '../../src/clock.ts'
import { createOutbound } from '../../src/http/index.ts'
import { createId, type OrganizationId } from '../../src/ids.ts'
import { createLog } from '../../src/telemetry/index.ts'
import { createSealer } from '../../src/secrets/index.ts'
import { organizations, type Actor, type Engine, type Store } from '../../src/store/index.ts'
import { createWebhooks, type Webhooks } from '../../src/webhooks/index.ts'
import { startReceiver, type Receiver } from './receiver.ts'
import { steadyClock, storeForTests, type TestClock } from './store.ts'

export const operator: Actor = { kind: 'operator' }

/** Webhooks on an empty store, with one organization and one receiver. */
export interface TestWebhooks extends AsyncDisposable {
  readonly store: Store
  readonly clock: TestClock
  readonly webhooks: Webhooks
  readonly organizationId: OrganizationId
  readonly receiver: Receiver
  /** The log, one JSON object per line. */
  readonly lines: string[]
  /** Starts a second node on the same database. */
  another(): Promise<Webhooks>
  /** Publishes events in one transaction. */
  publish(count: number, type?: string): Promise<void>
  /** Waits until a condition holds. If it never does, `what` describes the condition in the error message. */
  until(condition: () => boolean | Promise<boolean>, what: string): Promise<void>
  /** Waits until the first node sends nothing and has written all outcomes. */
  quiet(): Promise<void>
  /** The delivery counts, summed over all endpoints; throws unless those of each endpoint add up to its `committed`. */
  books(): Promise<Record<string, number>>
}

/** Opens webhooks on an empty store, with a receiver; with `start: false` the dispatcher does not run. */
export async function webhooksForTests(
  engine: Engine,
  options: {
    start?: boolean
    deliveriesKeptMs?: number
    graceMs?: number
    attemptMs?: number
  } = {},
): Promise<TestWebhooks> {
  await using opened = new AsyncDisposableStack()
  const clock = steadyClock()
  const place = opened.use(await storeForTests(engine, clock))
  const { store } = place
  const receiver = opened.use(await startReceiver())
  const lines: string[] = []
  const open = (on: Store): Webhooks => webhooksOver(opened, on, clock, lines, options)
  const webhooks = open(store)
  const organizationId = createId('org')
  await store.transaction(
    async (tx) =>
      await organizations.insert(tx, {
        id: organizationId,
        slug: 'acme',
        name: 'Acme',
        plan: 'standard',
      }),
  )
  if (options.start !== false) await webhooks.start()

  const closing = opened.move()
  return {
    store,
    clock,
    webhooks,
    organizationId,
    receiver,
    lines,
    async another() {
      const second = webhooksOver(closing, await place.another(), clock, lines, options)
      await second.start()
      return second
    },
    async publish(count, type = 'organization.plan_changed') {
      await store.transaction(async (tx) => {
        for (let number = 0; number < count; number++) {
          tx.event({ organizationId, type, data: { number } })
        }
      })
    },
    until,
    async quiet() {
      await until(() => webhooks.state().sending + webhooks.state().unwritten === 0, 'quiet')
    },
    async books() {
      const sums: Record<string, number> = {}
      for (const book of await webhooks.books(organizationId)) {
        const { endpointId: _, committed, ...parts } = book
        const sum = Object.values(parts).reduce((a, b) => a + b, 0)
        assert.equal(sum, committed, `the books do not balance: ${JSON.stringify(book)}`)
        for (const [name, value] of Object.entries({ committed, ...parts })) {
          sums[name] = (sums[name] ?? 0) + value
        }
      }
      return sums
    },
    [Symbol.asyncDispose]: async () => await closing.disposeAsync(),
  }
}

function webhooksOver(
  opened: AsyncDisposableStack,
  store: Store,
  clock: Clock,
  lines: string[],
  options: { deliveriesKeptMs?: number; graceMs?: number; attemptMs?: number },
): Webhooks {
  const outbound = opened.use(createOutbound({ allowLoopback: true }))
  return opened.use(
    createWebhooks({
      store,
      sealer: createSealer(['a master secret of the tests, 32 characters']),
      clock,
      outbound,
      log: createLog({ level: 'debug', write: (line) => void lines.push(line) }),
      graceMs: 300,
      ...options,
    }),
  )
}

/** Waits until a condition holds; throws after 45 s, which is enough even on a busy machine. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
): Promise<void> {
  const end = performance.now() + 45_000
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`never happened: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
