/** An organization's people and groups, kept in sync with its directory over SCIM. */
export { createDirectories, openDirectoryGroups, type Directories } from './directories.ts'
export { type DirectoryCaller } from './change.ts'
export { type MemberChange } from './group-members.ts'
export { type DirectoryGroupInput, type DirectoryGroups } from './groups.ts'
export { type DirectoryPage, type DirectoryListing } from './lists.ts'
export { RefusedToken, type DirectoryPrincipal } from './tokens.ts'
export { type DirectoryUserInput } from './people.ts'
export { type DirectoryUser } from './users.ts'
