import { disk } from './disk.ts'
import { idle } from './idle.ts'
import { kill } from './kill.ts'
import { power } from './power.ts'
import type { Torture } from './torture.ts'

/** Every torture by the name that `npm run torture` takes. */
export const tortures: Readonly<Record<string, Torture>> = { kill, power, disk, idle }
