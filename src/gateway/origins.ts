import type { UpstreamOrigin, Upstreams } from '../http/index.ts'
import type { GuardedTarget } from '../targets/index.ts'

/** The connection pool of each target. */
export interface Origins {
  of(target: GuardedTarget): UpstreamOrigin
  /** Forgets the pools that have no connections and were not used since the previous sweep. */
  sweep(): void
}

interface Entry {
  target: GuardedTarget
  readonly origin: UpstreamOrigin
  used: boolean
}

/** Creates a target's pool at its first call, and a new one when its address or connection settings have changed. */
export function createOrigins(upstreams: Upstreams): Origins {
  const entries = new Map<string, Entry>()

  function open(target: GuardedTarget): UpstreamOrigin {
    const before = entries.get(target.id)
    if (before !== undefined && isSamePlace(before.target, target)) {
      before.target = target
      return before.origin
    }
    before?.origin.close()
    const { secure, host, port } = target.upstream
    const { ca, connectMs } = target.settings
    const origin = upstreams.open({ secure, host, port, ca }, connectMs)
    entries.set(target.id, { target, origin, used: true })
    return origin
  }

  return {
    of(target) {
      const entry = entries.get(target.id)
      if (entry?.target !== target) return open(target)
      entry.used = true
      return entry.origin
    },
    sweep() {
      for (const [id, entry] of entries) {
        if (!entry.used && entry.origin.size === 0) entries.delete(id)
        entry.used = false
      }
    },
  }
}

function isSamePlace(a: GuardedTarget, b: GuardedTarget): boolean {
  return (
    a.upstream.secure === b.upstream.secure &&
    a.upstream.host === b.upstream.host &&
    a.upstream.port === b.upstream.port &&
    a.settings.ca === b.settings.ca &&
    a.settings.connectMs === b.settings.connectMs
  )
}
