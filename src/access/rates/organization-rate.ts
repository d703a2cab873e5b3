import { Problem } from '../../errors.ts'
import { isRate, maxRateSeconds, type Rate } from '../../rate.ts'

const maxCalls = 1_000_000

/** Returns the rate that all calls of an organization share, according to its settings; undefined means no limit. */
export function readOrganizationRate(
  settings: Readonly<Record<string, unknown>>,
): Rate | undefined {
  return settings['rateLimit'] as Rate | undefined
}

/** Returns the validated rate; throws `invalid_input` for numbers out of bounds. */
export function checkOrganizationRate(rate: Rate): Rate {
  const { calls, perSeconds, burst } = rate
  if (isRate(rate, maxCalls))
    return { calls, perSeconds, ...(burst === undefined ? {} : { burst }) }
  throw new Problem(
    'invalid_input',
    `An organization's rate has 1 to ${maxCalls} calls in 1 to ${maxRateSeconds} seconds, and perhaps a burst.`,
  )
}
