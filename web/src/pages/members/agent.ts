import { membersWords as w } from '../../../words/en/members.ts'

const browsers = [
  [/Edg\/(\d+)/, 'Edge'],
  [/OPR\/(\d+)/, 'Opera'],
  [/Firefox\/(\d+)/, 'Firefox'],
  [/Chrome\/(\d+)/, 'Chrome'],
  [/Version\/(\d+).*Safari/, 'Safari'],
] as const
const systems = [
  [/Windows/, 'Windows'],
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
] as const
const longest = 60

/** Renders a user agent readably ("Firefox 128 on Linux"), or shortened if it is unknown. */
export function agentName(agent: string | undefined): string | undefined {
  if (agent === undefined) return undefined
  const system = systems.find(([pattern]) => pattern.test(agent))?.[1]
  for (const [pattern, name] of browsers) {
    const version = pattern.exec(agent)?.[1]
    if (version !== undefined)
      return system === undefined ? `${name} ${version}` : w.agentOn(`${name} ${version}`, system)
  }
  return agent.length > longest ? `${agent.slice(0, longest)}…` : agent
}
