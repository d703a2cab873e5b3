/** Checks of the settings that go beyond a single value. */
type Environment = Readonly<Record<string, string | undefined>>

/** Older releases have known vulnerabilities (security advisories of June and July 2026). */
const oldestNode = [24, 21] as const

/** Returns an error message if this version of Node is too old. */
export function complainAboutNode(version: string): string[] {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isOldEnough = major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])
  return isOldEnough
    ? []
    : [`Node ${version} is too old: Intercept needs ${oldestNode.join('.')} or later.`]
}

/** Returns error messages about settings that make sense only in combination. */
export function complainAboutPairs(env: Environment): string[] {
  return ['GITHUB', 'GOOGLE'].flatMap((one) => {
    const hasId = Boolean(env[`${one}_CLIENT_ID`])
    const hasSecret = Boolean(env[`${one}_CLIENT_SECRET`] ?? env[`${one}_CLIENT_SECRET_FILE`])
    if (hasId === hasSecret) return []
    return [`${one}_CLIENT_ID and ${one}_CLIENT_SECRET are needed together.`]
  })
}
