import type { Store } from '../store/index.ts'
import type { DirectoryDeps } from './deps.ts'
import { DirectoryGroups } from './groups.ts'
import { DirectoryLists } from './lists.ts'
import { createDirectoryLog, type DirectoryLog } from './request-log.ts'
import { directoryMemberships } from './people.ts'
import { directoryRoles } from './roles.ts'
import { DirectoryTokens } from './tokens.ts'
import type { DirectoryPeople } from '../sso/index.ts'
import { createSignInLookup } from './sign-in.ts'
import { DirectoryUsers } from './users.ts'

/**
 * Everything that organizations' directories need: SCIM tokens, the users and groups that a company keeps in sync over
 * SCIM, their lists, and the request log.
 */
export interface Directories extends AsyncDisposable {
  readonly tokens: DirectoryTokens
  readonly users: DirectoryUsers
  readonly groups: DirectoryGroups
  readonly lists: DirectoryLists
  readonly log: DirectoryLog
  /** Finds directory users while people sign in through the company's connection. */
  readonly signIn: DirectoryPeople
}

export function createDirectories(deps: DirectoryDeps): Directories {
  const { store } = deps
  const tokens = new DirectoryTokens(deps)
  const log = createDirectoryLog(deps)
  const roles = directoryRoles
  return {
    tokens,
    users: new DirectoryUsers({ store, tokens, people: directoryMemberships, roles }),
    groups: new DirectoryGroups({ store, tokens, roles }),
    lists: new DirectoryLists(deps),
    log,
    signIn: createSignInLookup(),
    [Symbol.asyncDispose]: async () => await log[Symbol.asyncDispose](),
  }
}

/**
 * Creates the group service alone, for configuration files. This service does not check SCIM tokens, so a directory's
 * own requests must use `Directories`.
 */
export function openDirectoryGroups(store: Store): DirectoryGroups {
  const tokens = {
    whileGood: async <T>(_change: unknown, work: () => Promise<T>) => await work(),
  }
  return new DirectoryGroups({ store, tokens, roles: directoryRoles })
}
