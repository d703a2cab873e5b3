import { digest, type Sealer } from '../secrets/index.ts'
import type { ManagedRecord, OrganizationRecord } from '../store/index.ts'
import type { ConfigurationFile } from './file/read.ts'
import { referenceIn } from './plan.ts'
import {
  canonical,
  sectionKeys,
  type Entry,
  type Section,
  type SectionKey,
} from './sections/section.ts'
import { sections } from './sections/index.ts'
import type { ConfigurationServices } from './sections/services.ts'
import { withoutDefaults, type State } from './state.ts'

type Owned = Omit<ManagedRecord, 'driftedAt'>

/** Computes what a file will manage after an apply; rows that are already stored unchanged are left out. */
export function ownedRows(of: {
  readonly file: ConfigurationFile
  readonly state: State
  readonly services: ConfigurationServices
  readonly label: string
  readonly secrets: ReadonlyMap<string, string>
  readonly organization: OrganizationRecord
  readonly idOf: (section: SectionKey, name: string) => string | undefined
}): Owned[] {
  const { file, state, services, label, organization } = of
  const before = new Map(state.owned.map((row) => [`${row.section} ${row.name}`, row]))
  return sectionKeys.flatMap((key) =>
    [...file.entries[key]].flatMap(([name, written]): Owned[] => {
      const section = sections[key]
      const entry = withoutDefaults(section, { name, entry: written }, services)
      const id = of.idOf(key, name)
      const subjectId = id === '' ? undefined : id
      // Only two kinds of entries have no id: groups that do not exist yet, and expired keys, which are not managed.
      if (subjectId === undefined && key !== 'groups') return []
      const context = sealContext(organization.id, { section: key, name })
      const digests = digestsOf(section, entry, (path) => of.secrets.get(referenceIn(entry, path)))
      const row = before.get(`${key} ${name}`)
      const same =
        row !== undefined &&
        row.driftedAt === undefined &&
        row.label === label &&
        row.subjectId === subjectId &&
        canonical(row.entry) === canonical(entry) &&
        canonical(openDigests(row, organization.id, services.sealer)) === canonical(digests)
      if (same) return []
      const secretsSealed =
        Object.keys(digests).length === 0
          ? undefined
          : services.sealer.seal(JSON.stringify(digests), context)
      return [{ section: key, name, subjectId, label, entry, secretsSealed }]
    }),
  )
}

/** Returns the digests of a thing's secrets, by each secret's path in the entry. */
export function digestsOf(
  section: Section,
  entry: Entry,
  secretAt: (path: string) => string | undefined,
): Record<string, string> {
  return Object.fromEntries(
    section.secretPaths(entry).flatMap((path) => {
      const secret = secretAt(path)
      return secret === undefined ? [] : [[path, digest(secret)]]
    }),
  )
}

/** Unseals the digests of a managed thing's secrets; empty if it has none. */
export function openDigests(
  row: Pick<ManagedRecord, 'section' | 'name' | 'secretsSealed'>,
  organizationId: string,
  sealer: Sealer,
): Record<string, string> {
  if (row.secretsSealed === undefined) return {}
  const text = sealer.open(row.secretsSealed, sealContext(organizationId, row))
  return JSON.parse(text) as Record<string, string>
}

function sealContext(
  organizationId: string,
  { section, name }: { readonly section: string; readonly name: string },
): readonly string[] {
  return [organizationId, `${section}/${name}`, 'managed']
}
