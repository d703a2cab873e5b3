/** Answers who is calling (the principal), which credential proves it, what they may do, and until when. */
export { AccessTokens, type TokenPrincipal } from './access-tokens.ts'
export { heldPermissions, permissionsNow } from './permissions/actor-permissions.ts'
export { endTokensOf } from './access-token-news.ts'
export { cidrContains, parseCidr, type Cidr } from './key-fields/cidr.ts'
export { keyAtHand, readKey, type PresentedKey } from './credential.ts'
export { FailedCredentials, spareLookUps } from './failed-credentials.ts'
export type { LimitedRate } from './rates/holding.ts'
export { checkOrganizationRate, readOrganizationRate } from './rates/organization-rate.ts'
export { SharedRates } from './rates/shared-rates.ts'
export { createKeyCache, keysInMemory, type KeyCache, type KeyDescription } from './key-cache.ts'
export { checkKeyDefaults, readKeyDefaults, type KeyDefaults } from './key-defaults.ts'
export type { KeyInput } from './key-input.ts'
export {
  everyField,
  fieldsFromJson,
  fieldsToJson,
  type KeyFieldsJson,
} from './key-fields/key-json.ts'
export { maxLabels, parseLabelFilter } from './key-fields/key-labels.ts'
export { keyStateAt } from './key-state.ts'
export { grantText } from './key-fields/key-texts.ts'
export { Keys, type Key } from './keys.ts'
export {
  isRole,
  may,
  permissions,
  permissionsOf,
  roles,
  type Permission,
  type Role,
} from './permissions/permissions.ts'
export type { KeyPrincipal } from './key-memory/index.ts'
export { principalOf } from './trial-principal.ts'
export { schemeOfKey, schemes, type Quota, type Scheme } from './schemes.ts'
export { openSigningKeys, type SigningKeys } from './sessions/signing-keys.ts'
export { checkMasterKey } from './master-key-check.ts'
export { countSealed, resealAll, type SealedCounts } from './master-key-rotation.ts'
export {
  hasSessionCookie,
  markedSession,
  readSessionCookie,
  sessionCookieName,
  sessionCookies,
  sessionEndCookies,
} from './sessions/session-cookie.ts'
export { organizationVouching } from './sessions/session-news.ts'
export {
  Sessions,
  endSessions,
  isFreshSignIn,
  requireOwnSignIn,
  type SessionsOf,
  type SignedIn,
} from './sessions/sessions.ts'
