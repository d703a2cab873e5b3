import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { cookieValues, hostCookie } from '../http/index.ts'
import type { PendingLink } from '../sso/index.ts'
import type { Sealer } from '../secrets/index.ts'

const cookieName = '__Host-sso-confirm'
const lifetimeMs = 10 * 60_000
const context = ['system', 'sign-in', 'confirm']
const longestCookie = 3_900

/** A proven company sign-in that waits for its owner's own sign-in, bound to the browser that proved it. */
export interface Pending {
  readonly link: PendingLink
  readonly returnTo: string
  readonly startedAt: number
}

/** Waiting links, in a sealed cookie: exactly this subject, this browser, ten minutes. */
export interface PendingLinks {
  cookieFor(link: PendingLink, returnTo: string): string
  /** `sso_confirmation_required` where nothing waits. */
  read(cookieHeader: string | undefined): Pending
}

/** Takes the waiting link away from the browser. */
export const pendingEndCookie = hostCookie(cookieName, '', { sameSite: 'Lax', maxAgeSeconds: 0 })

/** Opens the waiting links. */
export function createPendingLinks(needs: { sealer: Sealer; clock: Clock }): PendingLinks {
  const { sealer, clock } = needs
  return {
    cookieFor(link, returnTo) {
      const pending: Pending = { link, returnTo, startedAt: clock.now() }
      return hostCookie(cookieName, sealer.seal(JSON.stringify(pending), context), {
        // The person comes back from another provider's page (F3).
        sameSite: 'Lax',
        maxAgeSeconds: lifetimeMs / 1000,
      })
    },
    read(cookieHeader) {
      const [sealed, second] = cookieValues(cookieHeader, cookieName)
      if (sealed === undefined || second !== undefined || sealed.length > longestCookie)
        throw nothing()
      let pending: Pending
      try {
        pending = JSON.parse(sealer.open(sealed, context)) as Pending
      } catch {
        throw nothing()
      }
      if (clock.now() - pending.startedAt > lifetimeMs) throw nothing()
      return pending
    },
  }
}

function nothing(): Problem {
  return new Problem(
    'sso_confirmation_required',
    'Nothing waits to be confirmed in this browser, or it waited longer than 10 minutes. Start again.',
  )
}
