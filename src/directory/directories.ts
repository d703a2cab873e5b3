import type { DirectoryNeeds } from './deps.ts'
import { createDirectoryGroups, type DirectoryGroups } from './groups.ts'
import { createDirectoryLists, type DirectoryLists } from './lists.ts'
import { createDirectoryLog, type DirectoryLog } from './request-log.ts'
import { createDirectoryMemberships } from './people.ts'
import { createDirectoryRoles } from './roles.ts'
import { createDirectoryTokens, type DirectoryTokens } from './tokens.ts'
import type { DirectoryPeople } from '../sso/index.ts'
import { createSignInLookup } from './sign-in.ts'
import { createDirectoryUsers, type DirectoryUsers } from './users.ts'

/** The directories of organizations: what a company's own directory keeps in step here. */
export interface Directories extends AsyncDisposable {
  readonly tokens: DirectoryTokens
  readonly users: DirectoryUsers
  readonly groups: DirectoryGroups
  readonly lists: DirectoryLists
  readonly log: DirectoryLog
  /** What the company's sign-in asks of the directory. */
  readonly signIn: DirectoryPeople
}

/** Opens the directories' rules. */
export function createDirectories(needs: DirectoryNeeds): Directories {
  const tokens = createDirectoryTokens(needs)
  const roles = createDirectoryRoles()
  const people = createDirectoryMemberships()
  const log = createDirectoryLog(needs)
  return {
    tokens,
    users: createDirectoryUsers(needs, { tokens, people, roles }),
    groups: createDirectoryGroups(needs, { tokens, roles }),
    lists: createDirectoryLists(needs),
    log,
    signIn: createSignInLookup(),
    [Symbol.asyncDispose]: async () => await log[Symbol.asyncDispose](),
  }
}
