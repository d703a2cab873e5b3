const targets = (count: number, rule: string): string =>
  Array.from(
    { length: count },
    (_, n) => `  t${n}:
    upstream: http://127.0.0.1:8099/${n}
    credential: { header: Authorization, value: env:S_${n % 3} }
    rules: ['${rule}', 'allow * /*']
`,
  ).join('')

/** Two files with almost nothing in common, so that a half-applied one matches neither. */
export const twoFiles = [
  `version: 1
organization: { slug: torture, name: One }
targets:
${targets(40, 'deny DELETE /one/*')}keys:
  first: { grants: [t1] }
`,
  `version: 1
organization: { slug: torture, name: Two }
targets:
${targets(20, 'deny PUT /two/*')}endpoints:
  hook: { url: 'http://127.0.0.1:9000/', headers: { X-Hook: env:S_1 } }
keys:
  second: { grants: [t2:GET] }
`,
] as const

/** Returns the text of a configuration file for an organization with this many targets of ten rules each. */
export function bigFile(count: number): string {
  const rules = Array.from({ length: 10 }, (_, n) => `      - deny GET /a${n}/*\n`).join('')
  const all = Array.from(
    { length: count },
    (_, n) => `  t${n}:\n    upstream: http://127.0.0.1:8099/${n}\n    rules:\n${rules}`,
  )
  return `version: 1\norganization:\n  slug: big\ntargets:\n${all.join('')}`
}
