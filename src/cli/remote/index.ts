/** Commands over the API of a running Intercept: the same services as on the database, as far as the API has them. */
export { connect, type Remote } from './connection.ts'
export { remoteConfigurations } from './configurations.ts'
export { remoteKeys } from './keys.ts'
export { remoteOrganizations } from './organizations.ts'
export { remoteTargets } from './targets.ts'
export { remoteTokens } from './tokens.ts'
export { onlyLocal } from './values.ts'
