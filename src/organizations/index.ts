/** Organizations and who belongs to them. */
export { createOrganizations, type Organizations, type OrganizationWish } from './organizations.ts'
