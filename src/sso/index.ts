/** Company sign-in: connections, domains, who is admitted, and when it is required. */
export {
  withDecidingGroups,
  type Admitted,
  type DirectoryPeople,
  type PendingLink,
} from './admission.ts'
export { readPerson, type CompanyPerson } from './connection-claims.ts'
export { kindOf } from './connection-checks.ts'
export { connectionKinds, settingsFor, type SettingsInput } from './connection-settings.ts'
export { createTestLines, type TestResult } from './connection-tests.ts'
export {
  type Connection,
  createConnections,
  type ConnectionChange,
  type ConnectionInput,
} from './connections.ts'
export { challengeRecord, createDomains } from './domains.ts'
export { createSsoPolicies } from './policy.ts'
export { endByProvider } from './provider-sessions.ts'
export { createSso, type Sso } from './sso.ts'
