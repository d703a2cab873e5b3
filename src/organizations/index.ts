/** Organizations and who belongs to them. */
export { createOrganizations, type Organizations, type OrganizationWish } from './organizations.ts'
export { createConnections, type Connection } from './connections.ts'
export { challengeRecord, createDomains } from './domains.ts'
export { createInvitations, type Invitations } from './invitations.ts'
export { createLinks, type Links } from './links.ts'
export { createPost } from './mail.ts'
export { createMembers, type Ended, type Members } from './members.ts'
export { createPeople, type People, type ProvenIdentity } from './people.ts'
