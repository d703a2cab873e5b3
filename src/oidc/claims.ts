import type { JsonObject } from './json.ts'

/**
 * Returns the source that has a claim: the id_token or, if it lacks the claim, UserInfo; an empty object if both lack
 * it. What one claim says about another, as `email_verified` about `email`, counts only if it comes from the same
 * source.
 */
export function sourceOf(
  { claims, userinfo }: { readonly claims: JsonObject; readonly userinfo: JsonObject | undefined },
  claim: string,
): JsonObject {
  return [claims, userinfo ?? {}].find((source) => Object.hasOwn(source, claim)) ?? {}
}
