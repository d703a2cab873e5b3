/** Company sign-in: connections, domains, who is admitted, and when it is required. */
export {
  withDecidingGroups,
  type Admitted,
  type DirectoryPeople,
  type PendingLink,
} from './admission.ts'
export { readPerson, type CompanyPerson } from './connection-claims.ts'
export { kindOf } from './connection-client.ts'
export { connectionKinds, settingsFor, type SettingsInput } from './connection-settings.ts'
export { TestLines, type TestResult } from './connection-tests.ts'
export {
  Connections,
  type Connection,
  type ConnectionChange,
  type ConnectionInput,
} from './connections.ts'
export { challengeRecord, Domains } from './domains.ts'
export { SsoPolicies } from './policy.ts'
export { endByProvider } from './provider-sessions.ts'
export { createSso, type Sso } from './sso.ts'
export { requireStanding } from './standing.ts'
