import { Problem } from '../errors.ts'
import { askedOf, checkAgain, gatewayPrefix, type TargetCache } from '../targets/index.ts'
import type { Call } from './call.ts'

/** Returns why a call in progress would be refused if it came now, apart from limits; undefined if it would pass. */
export type JudgeAgain = (call: Call) => Promise<Problem | undefined>

/** Judges by the key as last read and by the targets as they are now. Rejects if the database does not answer. */
export function createJudgeAgain({
  targetCache,
}: {
  readonly targetCache: TargetCache
}): JudgeAgain {
  return async ({ current, arrival, exchange, method, path, target }) => {
    const asked = askedOf(path, gatewayPrefix.length)
    const found = (await targetCache.of(current.organizationId)).get(asked.slug)
    // The name may belong to another target by now.
    const named = target === undefined || found?.id === target.id ? found : undefined
    const { address } = arrival
    const question = { principal: current, address, signs: exchange.head, method, named }
    const refused = checkAgain({ ...question, asked, methods: [method] })
    if (refused === undefined) return undefined
    if (refused.error instanceof Problem) return refused.error
    throw refused.error
  }
}
