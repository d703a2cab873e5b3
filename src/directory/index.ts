/** An organization's people and groups as its directory (SCIM) keeps them. */
export { createDirectories, openDirectoryGroups, type Directories } from './directories.ts'
export { type DirectoryGroupInput, type DirectoryGroups, type MemberChange } from './groups.ts'
export { type DirectoryPage, type DirectoryListing } from './lists.ts'
export { RefusedToken, type DirectoryPrincipal } from './tokens.ts'
export { type DirectoryUser, type DirectoryUserInput } from './users.ts'
