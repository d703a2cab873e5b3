import { apply } from './apply.ts'
import { clock } from './clock.ts'
import { deliveries } from './deliveries.ts'
import { fullDisk } from './deliveries-on-full-disk.ts'
import { disk } from './disk.ts'
import { drain } from './drain.ts'
import { faults } from './faults.ts'
import { fleet } from './fleet.ts'
import { fuzz } from './fuzz.ts'
import { httpKill } from './http-kill.ts'
import { idle } from './idle.ts'
import { kill } from './kill.ts'
import { lanes } from './lanes.ts'
import { limits } from './limits.ts'
import { nodes } from './nodes.ts'
import { postgres } from './postgres.ts'
import { postgresAway } from './postgres-away.ts'
import { power } from './power.ts'
import { reads } from './reads.ts'
import { revocation } from './revocation.ts'
import { rolling } from './rolling.ts'
import { rollingProxies } from './rolling-proxies.ts'
import { soak } from './soak.ts'
import type { Torture } from './torture.ts'
import { streams } from './streams.ts'
import { upgrade } from './upgrade.ts'
import { upstreams } from './upstreams.ts'

/** Every torture, by the name that `npm run torture` takes. */
export const tortures: Readonly<Record<string, Torture>> = {
  kill,
  apply,
  'http-kill': httpKill,
  power,
  revocation,
  reads,
  postgres,
  'postgres-away': postgresAway,
  disk,
  streams,
  upstreams,
  idle,
  fuzz,
  lanes,
  drain,
  rolling,
  'rolling-proxies': rollingProxies,
  upgrade,
  faults,
  clock,
  soak,
  fleet,
  nodes,
  limits,
  deliveries,
  'deliveries-disk': fullDisk,
}
