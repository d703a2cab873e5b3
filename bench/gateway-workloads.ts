import {
  measureFull,
  measureLoad,
  measurePaced,
  type Measured,
  type Task,
  type WrkLoad,
} from './gateway-measure.ts'
import type { Peer } from './gateway-peers.ts'

export interface Workload {
  readonly name: string
  /** Whether this workload tells which peer can handle the fewest calls. */
  readonly tellsSlowest?: boolean
  /** Whether its rate depends on the capacity of that peer, which is measured before each round. */
  readonly needsCapacity?: boolean
  /** How many times as long its rounds are as those of other workloads; 1 if not given. */
  readonly lengthFactor?: number
  /** How many times as many rounds it has as other workloads; 1 if not given. */
  readonly countFactor?: number
  /** Whether each round also measures forwarded calls, to compare with. */
  readonly isBesideForwarding?: boolean
  isFor(peer: Peer): boolean
  run(peer: Peer, task: Task): Promise<Measured>
}

const kib = 1024
const streams = 32
const post: WrkLoad = { method: 'POST', bodyBytes: kib }

export const workloads: readonly Workload[] = [
  { ...long(withRelay(full('GET 1 KB'))), tellsSlowest: true },
  short(full('GET 1 KB, CPU time')),
  long(withRelay(full('POST 1 KB', post))),
  short(full('POST 1 KB, CPU time', post)),
  long(offered('GET 1 KB offered at half of what the slowest takes')),
  full('1 MB down', { path: '/items/large', connections: 16 }),
  full('1 MB up', { path: '/items/up', method: 'POST', bodyBytes: kib * kib, connections: 16 }),
  ours('refused: malformed key', { key: () => 'svc_live_x', refused: true }),
  ours('refused: unknown key', { key: ({ unknownKey = '' }) => unknownKey, refused: true }),
  ours('refused: rule denied', { path: '/internal/x', refused: true }),
  ours('refused: rate limited', { key: ({ limitedKey = '' }) => limitedKey, refused: true }),
  { ...ours('/-/check alone'), isFor: ({ kind }) => kind === 'check' },
  { ...ours('nginx with auth_request to /-/check'), isFor: ({ kind }) => kind === 'auth_request' },
  {
    // Its ratio is close to its bar, so it has more rounds; see `short`.
    ...load('an event of 100 bytes', {
      ...{ kind: 'events', path: '/items/events', connections: streams },
    }),
    countFactor: 2,
  },
  load('a WebSocket frame of 100 bytes, there and back', {
    ...{ kind: 'frames', path: '/items/frames', connections: streams },
  }),
]

function full(name: string, what: WrkLoad = {}): Workload {
  return {
    name,
    isFor: ({ kind }) => kind === 'proxy',
    run: async (peer, task) => await measureFull(peer, task, what),
  }
}

function withRelay(workload: Workload): Workload {
  return { ...workload, isFor: (peer) => workload.isFor(peer) || peer.kind === 'relay' }
}

/**
 * Compares what Intercept does itself with its forwarding, in more and shorter rounds; see `short`. Opening connections is
 * then a larger part of both, and of forwarding if it also opens those to the upstream.
 */
function ours(name: string, what: WrkLoad = {}): Workload {
  return {
    ...full(name, what),
    ...{ lengthFactor: 0.5, countFactor: 4 },
    isBesideForwarding: true,
    isFor: ({ name: peer }) => peer === 'Intercept',
  }
}

function load(name: string, what: Parameters<typeof measureLoad>[2]): Workload {
  return {
    name,
    isFor: ({ kind }) => kind === 'proxy',
    run: async (peer, task) => await measureLoad(peer, task, what),
  }
}

/**
 * Makes rounds longer, for workloads whose p99 counts. In rounds of 2 s, a stop of 20 ms or the first calls on new
 * connections could decide the p99, and opening the connections would be several percent of the CPU time.
 */
function long(workload: Workload): Workload {
  return { ...workload, lengthFactor: 4 }
}

/**
 * Makes more rounds, without the nginx that no bar names, for the CPU time of calls. On a shared host, one round's ratio
 * may be half or twice that of the next, so the median needs many rounds; short ones with few peers make room for them
 * and bring two peers' turns closer together. Opening the connections is then a few percent of each peer's CPU time.
 */
function short(workload: Workload): Workload {
  const isFor = (peer: Peer): boolean => workload.isFor(peer) && peer.name !== 'nginx map'
  return { ...workload, countFactor: 3, isFor }
}

/** Offers the same rate to all proxies and, for comparison, to the relay and to the upstream alone. */
function offered(name: string): Workload {
  return {
    name,
    needsCapacity: true,
    isFor: ({ kind }) => kind === 'proxy' || kind === 'relay' || kind === 'upstream',
    run: async (peer, task) => {
      if (task.capacity === undefined) throw new Error('the capacity was not measured')
      const load = { path: '/items/7?full=1', perSecond: task.capacity / 2 }
      return await measurePaced(peer, task, load)
    },
  }
}
