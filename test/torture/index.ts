import { deliveries } from './deliveries.ts'
import { fullDisk } from './deliveries-on-full-disk.ts'
import { disk } from './disk.ts'
import { drain } from './drain.ts'
import { fuzz } from './fuzz.ts'
import { idle } from './idle.ts'
import { kill } from './kill.ts'
import { postgres } from './postgres.ts'
import { power } from './power.ts'
import { revocation } from './revocation.ts'
import type { Torture } from './torture.ts'
import { streams } from './streams.ts'
import { upstreams } from './upstreams.ts'

/** Every torture by the name that `npm run torture` takes. */
export const tortures: Readonly<Record<string, Torture>> = {
  kill,
  power,
  revocation,
  postgres,
  disk,
  streams,
  upstreams,
  idle,
  fuzz,
  drain,
  deliveries,
  'deliveries-disk': fullDisk,
}
