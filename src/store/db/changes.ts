import type { Id, KeyId, OrganizationId, SessionId, TargetId, UserId } from '../../ids.ts'

/**
 * A position in the change feed: a change's sequence number and its token, which is random, so that no other history
 * can repeat it.
 */
export interface FeedMark {
  readonly sequence: number
  readonly token: string
}

/** The subject that each kind of change names. */
interface Subjects {
  readonly key: { readonly subjectId: KeyId }
  readonly target: { readonly subjectId: TargetId }
  readonly organization: { readonly subjectId: OrganizationId }
  readonly session: { readonly subjectId: SessionId }
  readonly user: { readonly subjectId: UserId }
  /** A member of the organization. */
  readonly membership: { readonly subjectId: UserId }
  /** A token of the organization's SCIM directory. */
  readonly directory: { readonly subjectId: string }
  readonly access_token: { readonly subjectId: Id<'tok'> }
  readonly signing_key: { readonly subjectId: string }
  readonly node: { readonly subjectId: Id<'node'> }
  readonly endpoint: Endpoints
  /** There is something to deliver. */
  readonly delivery: Endpoints
}

interface Endpoints {
  /** Endpoints of the organization; `all` when there are too many to list. */
  readonly endpointIds: readonly string[] | 'all'
}

export type ChangeKind = keyof Subjects

type DraftOf<Kind extends ChangeKind> = {
  readonly [K in Kind]: { readonly kind: K; readonly organizationId: string } & Subjects[K]
}[Kind]

/** A change that other nodes must hear about, before it is written. */
export type ChangeDraft = DraftOf<ChangeKind>

/**
 * A change of one kind as read from the feed. Its token is random: in another history the same sequence number carries
 * a different token.
 */
export type ChangeOf<Kind extends ChangeKind> = DraftOf<Kind> & FeedMark

/** A change as read from the feed. */
export type Change = ChangeOf<ChangeKind>

/** The text form in which a change's subjects are stored. */
export function subjectText(draft: ChangeDraft): string {
  if (!('endpointIds' in draft)) return draft.subjectId
  return draft.endpointIds === 'all' ? draft.organizationId : draft.endpointIds.join(' ')
}

/** Restores a stored change; a kind that this version does not know has no listeners. */
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
