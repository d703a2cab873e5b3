import { systemClock } from '../src/clock.ts'
import { createId, type OrganizationId } from '../src/ids.ts'
import { Organizations } from '../src/organizations/index.ts'
import { memberships, openStore, targets, users, type Store } from '../src/store/index.ts'
import { command, prepareGuarded } from '../test/torture/guarded.ts'
import { seed, type Amounts } from '../test/torture/reads-seed.ts'
import { randomFrom } from '../test/harness/random.ts'

const rowsInCommit = 250
const roles = ['admin', 'developer', 'viewer'] as const

export interface DashboardAmounts extends Amounts {
  readonly members: number
  readonly targets: number
}

/**
 * Creates and fills the organization `torture` in SQLite, in the folder that `env` names. Its owner is
 * olga@torture.test.
 */
export async function fillOrganization(
  env: Record<string, string>,
  upstream: string,
  amounts: DashboardAmounts,
): Promise<void> {
  await prepareGuarded(env, upstream)
  await command(env, 'member', 'add', 'torture', 'olga@torture.test', '--role', 'owner')
  await seed(env, amounts, randomFrom(1))
  const folder = env['DATA_DIR'] ?? ''
  await using store = await openStore({ folder, clock: systemClock, isNode: false })
  const { id } = await new Organizations({ store }).get('torture')
  await fillMembers(store, id, amounts.members)
  await fillTargets(store, id, amounts.targets)
}

async function fillMembers(
  store: Store,
  organizationId: OrganizationId,
  amount: number,
): Promise<void> {
  for (let at = 0; at < amount; at += rowsInCommit) {
    await store.transaction(async (tx) => {
      for (let one = at; one < Math.min(amount, at + rowsInCommit); one++) {
        const userId = createId('usr')
        const email = `person-${one}@torture.test`
        await users.insert(tx, { id: userId, name: `Person ${one}`, email })
        const role = roles[one % roles.length] ?? 'viewer'
        await memberships.insert(tx, {
          ...{ id: createId('mem'), organizationId, userId, role },
          source: 'operator',
        })
      }
    })
  }
}

async function fillTargets(
  store: Store,
  organizationId: OrganizationId,
  amount: number,
): Promise<void> {
  await store.transaction(async (tx) => {
    for (let one = 0; one < amount; one++) {
      await targets.insert(tx, {
        ...{ id: createId('tgt'), organizationId, slug: `api-${one}`, name: `API ${one}` },
        ...{ upstream: 'http://127.0.0.1:9/', settings: {} },
        ...{ credentialHeader: undefined, credentialSealed: undefined },
        ...{ otherwise: undefined, disabledAt: undefined },
      })
    }
  })
}
