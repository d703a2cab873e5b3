/** Organizations and who belongs to them. */
export { createOrganizations, type Organizations, type OrganizationWish } from './organizations.ts'
export { createConnections, type Connection } from './connections.ts'
export { challengeRecord, createDomains } from './domains.ts'
