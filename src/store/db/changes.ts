import type { Id, KeyId, OrganizationId, SessionId, TargetId, UserId } from '../../ids.ts'

/**
 * A position in the change feed. Sequence numbers are used again after a restore from a backup; the token tells apart
 * two changes that got the same number.
 */
export interface FeedMark {
  readonly sequence: number
  readonly token: string
}

interface Subjects {
  readonly key: { readonly subjectId: KeyId }
  readonly target: { readonly subjectId: TargetId }
  readonly organization: { readonly subjectId: OrganizationId }
  readonly session: { readonly subjectId: SessionId }
  readonly user: { readonly subjectId: UserId }
  /** The user whose membership in the organization changed. */
  readonly membership: { readonly subjectId: UserId }
  /** A token of the organization's SCIM directory. */
  readonly directory: { readonly subjectId: string }
  readonly access_token: { readonly subjectId: Id<'tok'> }
  readonly signing_key: { readonly subjectId: string }
  readonly node: { readonly subjectId: Id<'node'> }
  readonly endpoint: Endpoints
  /** The endpoints that may have deliveries to send. */
  readonly delivery: Endpoints
}

interface Endpoints {
  /** `all` stands for every endpoint of the organization. */
  readonly endpointIds: readonly string[] | 'all'
}

export type ChangeKind = keyof Subjects

type DraftOf<Kind extends ChangeKind> = {
  readonly [K in Kind]: { readonly kind: K; readonly organizationId: string } & Subjects[K]
}[Kind]

/** A change that a transaction publishes, before it gets its sequence number and token. */
export type ChangeDraft = DraftOf<ChangeKind>

/** A change of one kind, with its position in the feed. */
export type ChangeOf<Kind extends ChangeKind> = DraftOf<Kind> & FeedMark

/** A change of any kind, with its position in the feed. */
export type Change = ChangeOf<ChangeKind>

/** Whether a change is the one at a position; the position before the first change matches any. */
export function isAt(mark: FeedMark, change: Change | undefined): boolean {
  if (mark.sequence === 0) return true
  return change?.sequence === mark.sequence && change.token === mark.token
}

/** Renders a change's subjects as the text that is stored in the feed. */
export function subjectText(draft: ChangeDraft): string {
  if (!('endpointIds' in draft)) return draft.subjectId
  return draft.endpointIds === 'all' ? draft.organizationId : draft.endpointIds.join(' ')
}

/**
 * Rebuilds a change from its stored columns. A kind that only a newer version knows is harmless: it has no listeners.
 */
export function storedChange(
  mark: FeedMark,
  stored: { readonly kind: string; readonly organizationId: string; readonly subjects: string },
): Change {
  const { kind, organizationId, subjects } = stored
  const named =
    kind === 'endpoint' || kind === 'delivery'
      ? { endpointIds: subjects === organizationId ? 'all' : subjects.split(' ') }
      : { subjectId: subjects }
  // The stored value was type-checked when it was written.
  return { ...mark, kind, organizationId, ...named } as Change
}
