import { lazy, Suspense, useState, type ReactNode } from 'react'
import { managedWords as w } from '../../words/en/managed.ts'
import {
  useManagedAmong,
  type Managed as ManagedThing,
  type ManagedSection,
} from '../api/managed.ts'
import type { Permission } from '../api/shapes.ts'
import { Button } from '../parts/Button.tsx'
import classes from '../parts/surface.module.css'
import { Notice, Tag } from '../parts/Surface.tsx'
import { Time } from '../parts/Time.tsx'
import { whole } from '../parts/upgrade.ts'
import { useOrganization } from './membership.ts'

// Loaded on demand, because few people take a thing over from its file.
const TakeOver = lazy(async () => ({
  default: (await whole(async () => await import('./TakeOver.tsx'))()).TakeOver,
}))

/**
 * The permission to change everything in a section. Taking over one of its things requires this permission and
 * `organization.manage`.
 */
const permissionOf: Readonly<Record<ManagedSection, Permission>> = {
  organization: 'organization.manage',
  targets: 'targets.manage',
  endpoints: 'webhooks.manage',
  connections: 'sso.manage',
  domains: 'sso.manage',
  groups: 'sso.manage',
  keys: 'keys.manage',
}

/** Returns undefined if no file manages the thing, and while this is still loading. */
export function useManaged(section: ManagedSection, id: string): ManagedThing | undefined {
  const { slug } = useOrganization()
  return useManagedAmong(slug, section, [id]).get(id)
}

export function ManagedTag({ by }: { readonly by: ManagedThing | undefined }) {
  if (by === undefined) return undefined
  return (
    <Tag>
      <span className={classes.cut} title={w.tag(by.label)}>
        {w.tag(by.label)}
      </span>
    </Tag>
  )
}

export function ManagedNotice({
  by,
  name,
}: {
  readonly by: ManagedThing | undefined
  /** The thing's display name; defaults to its name in the file. */
  readonly name?: string
}) {
  if (by === undefined) return undefined
  return (
    <Notice tone={by.drifted_at === undefined ? 'plain' : 'caution'} title={w.title(by.label)}>
      <p>{w.text}</p>
      {by.drifted_at === undefined ? undefined : (
        <p>
          {w.drifted} <Time at={by.drifted_at} form="relative" />.
        </p>
      )}
      <TakeOverButton by={by} name={name ?? by.name} />
    </Notice>
  )
}

export function TakeOverButton({ by, name }: { readonly by: ManagedThing; readonly name: string }) {
  const { may } = useOrganization()
  const [asking, setAsking] = useState(false)
  if (!may('organization.manage') || !may(permissionOf[by.section])) {
    return <p className="muted">{w.whoMay}</p>
  }
  return (
    <div>
      <Button small aria-label={w.takeOverName(name)} onClick={() => setAsking(true)}>
        {w.takeOver}
      </Button>
      {asking ? (
        <Suspense fallback={undefined}>
          <TakeOver by={by} name={name} onClose={() => setAsking(false)} />
        </Suspense>
      ) : undefined}
    </div>
  )
}

/** Disables form controls while a file manages the thing that they change. */
export function LockedWhile({
  by,
  children,
}: {
  readonly by: ManagedThing | undefined
  readonly children: ReactNode
}) {
  return (
    <fieldset className={classes.bare} disabled={by !== undefined}>
      {children}
    </fieldset>
  )
}
