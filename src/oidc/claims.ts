import type { JsonObject } from './json.ts'

/**
 * Returns the source that has a claim, so that what describes the claim, such as `email_verified` for `email`, can be
 * read from the same source.
 */
export function sourceOf(
  { claims, userinfo }: { readonly claims: JsonObject; readonly userinfo: JsonObject | undefined },
  claim: string,
): JsonObject {
  return [claims, userinfo ?? {}].find((source) => Object.hasOwn(source, claim)) ?? {}
}
