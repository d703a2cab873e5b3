import type { OrganizationRecord } from '../store/index.ts'

/** What a file owns of an organization, kept with its settings. */
export interface Owned {
  /** The file's name; undefined where no file was ever applied. */
  readonly label: string | undefined
  /** Slugs of its targets: only these does `--prune` remove. */
  readonly targets: readonly string[]
  /** Where each target's credential came from, by slug. */
  readonly references: Readonly<Record<string, string | undefined>>
}

/** What a file owns of this organization. */
export function ownedOf({ settings }: Pick<OrganizationRecord, 'settings'>): Owned {
  const kept = (settings['configuration'] ?? {}) as Partial<Owned>
  return { label: kept.label, targets: kept.targets ?? [], references: kept.references ?? {} }
}
