import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { cookieValues, hostCookie } from '../http/index.ts'
import { digestBase64url, type Sealer } from '../secrets/index.ts'
import { minuteMs } from '../units.ts'

const lifetimeMs = 10 * minuteMs
const maxCookieLength = 3_900

/** A verified company sign-in that waits for confirmation, bound to the browser that proved it. */
export interface Pending<Input> {
  readonly input: Input
  readonly returnTo: string
  readonly startedAt: number
  /** Identifies this confirmation in its form, so that a form in another tab can't confirm it. */
  readonly mark: string
}

/** The cookie's content; its member names must not change, or confirmations would fail during a rolling upgrade. */
interface Sealed<Input> {
  readonly wish: Input
  readonly returnTo: string
  readonly startedAt: number
}

/** Keeps a pending confirmation for ten minutes, in a sealed cookie of the browser that proved the identity. */
export interface PendingConfirmations<Input> {
  /** Returns the Set-Cookie value and the mark of the pending confirmation. */
  keep(input: Input, returnTo: string): { readonly cookie: string; readonly mark: string }
  /**
   * Throws `sso_confirmation_required` if nothing is pending, or if the form lacks the mark of the pending
   * confirmation.
   */
  read(cookieHeader: string | undefined, form?: URLSearchParams): Pending<Input>
  /** The Set-Cookie value that removes a pending confirmation from the browser. */
  readonly endCookie: string
}

/** Creates the pending confirmations of one kind; each kind has a cookie of its own. */
export function createPendingConfirmations<Input>(
  deps: { sealer: Sealer; clock: Clock },
  name: 'confirm' | 'switch',
): PendingConfirmations<Input> {
  const { sealer, clock } = deps
  const cookieName = `__Host-sso-${name}` as const
  const context = ['system', 'sign-in', name]
  return {
    endCookie: hostCookie(cookieName, '', { sameSite: 'Lax', maxAgeSeconds: 0 }),
    keep(input, returnTo) {
      const sealed = sealer.seal(
        JSON.stringify({ wish: input, returnTo, startedAt: clock.now() } satisfies Sealed<Input>),
        context,
      )
      const cookie = hostCookie(cookieName, sealed, {
        // The person returns from the provider's site, and a Strict cookie would not be sent on that redirect.
        sameSite: 'Lax',
        maxAgeSeconds: lifetimeMs / 1000,
      })
      return { cookie, mark: markOf(sealed) }
    },
    read(cookieHeader, form) {
      const [sealed, second] = cookieValues(cookieHeader, cookieName)
      if (sealed === undefined || second !== undefined || sealed.length > maxCookieLength)
        throw nothing()
      let pending: Sealed<Input>
      try {
        pending = JSON.parse(sealer.open(sealed, context)) as Sealed<Input>
      } catch {
        throw nothing()
      }
      if (clock.now() - pending.startedAt > lifetimeMs) throw nothing()
      const mark = markOf(sealed)
      const marks = form?.getAll('waiting') ?? [mark]
      if (marks.length !== 1 || marks[0] !== mark) throw another()
      const { wish: input, returnTo, startedAt } = pending
      return { input, returnTo, startedAt, mark }
    },
  }
}

function markOf(sealed: string): string {
  return digestBase64url(`waiting ${sealed}`).slice(0, 22)
}

function nothing(): Problem {
  return new Problem(
    'sso_confirmation_required',
    'Nothing waits to be confirmed in this browser, or it waited longer than 10 minutes. Start again.',
  )
}

function another(): Problem {
  return new Problem(
    'sso_confirmation_required',
    'Another sign-in has begun in this browser since the page asked. Nothing was changed. Start again.',
  )
}
