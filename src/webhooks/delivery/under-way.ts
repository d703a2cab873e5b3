import type { DueDelivery } from '../../store/index.ts'

/** What is being sent, or was and is not written yet; it outlives the lanes. */
export interface UnderWay {
  /** Whether one more request may be started; endpoints that fail share half of the places, so that others find one. */
  hasPlace(failing: boolean): boolean
  begin(delivery: DueDelivery): void
  /** The request has ended: its place is free, its outcome not yet on the disk. */
  ended(): void
  /** The outcome is on the disk. */
  written(delivery: { readonly id: string; readonly endpointId: string }): void
  /** The deliveries of an endpoint, by id. */
  of(endpointId: string): ReadonlySet<string>
  readonly sending: () => number
}

const none: ReadonlySet<string> = new Set()

/** Nothing under way, `placesMost` places. */
export function createUnderWay(placesMost: number): UnderWay {
  const byEndpoint = new Map<string, Set<string>>()
  let sending = 0
  return {
    hasPlace: (failing) => sending < (failing ? placesMost / 2 : placesMost),
    begin({ endpointId, id }) {
      sending += 1
      const own = byEndpoint.get(endpointId)
      if (own) own.add(id)
      else byEndpoint.set(endpointId, new Set([id]))
    },
    ended() {
      sending -= 1
    },
    written({ endpointId, id }) {
      const own = byEndpoint.get(endpointId)
      own?.delete(id)
      if (own?.size === 0) byEndpoint.delete(endpointId)
    },
    of: (endpointId) => byEndpoint.get(endpointId) ?? none,
    sending: () => sending,
  }
}
