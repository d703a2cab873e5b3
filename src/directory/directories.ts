import type { Actor } from '../store/index.ts'
import type { DirectoryDeps } from './deps.ts'
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
export function createDirectories(deps: DirectoryDeps): Directories {
  const tokens = createDirectoryTokens(deps)
  const roles = createDirectoryRoles()
  const people = createDirectoryMemberships()
  const log = createDirectoryLog(deps)
  return {
    tokens,
    users: createDirectoryUsers(deps, { tokens, people, roles }),
    groups: createDirectoryGroups(deps, { tokens, roles }),
    lists: createDirectoryLists(deps),
    log,
    signIn: createSignInLookup(),
    [Symbol.asyncDispose]: async () => await log[Symbol.asyncDispose](),
  }
}

/** The groups' rules alone, for people and programs; a directory comes with its token and finds them in `Directories`. */
export function openDirectoryGroups(
  deps: Pick<DirectoryDeps, 'store' | 'clock' | 'sealer'>,
): DirectoryGroups {
  const tokens = {
    whileGood: async <T>(_tx: unknown, _id: string, _actor: Actor, work: () => Promise<T>) =>
      await work(),
  }
  return createDirectoryGroups(deps, { tokens, roles: createDirectoryRoles() })
}
