import type { Id, KeyId, OrganizationId, SessionId, TargetId, UserId } from '../../ids.ts'

/** A place in the change feed: the token of the change there is random, so that no other history repeats it. */
export interface FeedMark {
  readonly sequence: number
  readonly token: string
}

/** What a change of each kind names. */
interface Subjects {
  readonly key: { readonly subjectId: KeyId }
  readonly target: { readonly subjectId: TargetId }
  readonly organization: { readonly subjectId: OrganizationId }
  readonly session: { readonly subjectId: SessionId }
  readonly user: { readonly subjectId: UserId }
  /** A member of the organization. */
  readonly membership: { readonly subjectId: UserId }
  /** A token of the organization's directory. */
  readonly directory: { readonly subjectId: string }
  readonly access_token: { readonly subjectId: Id<'tok'> }
  readonly signing_key: { readonly subjectId: string }
  readonly node: { readonly subjectId: Id<'node'> }
  readonly endpoint: Endpoints
  /** Something is to be sent. */
  readonly delivery: Endpoints
}

interface Endpoints {
  /** Endpoints of the organization; `all` where there are too many to name. */
  readonly endpointIds: readonly string[] | 'all'
}

export type ChangeKind = keyof Subjects

type DraftOf<Kind extends ChangeKind> = {
  readonly [K in Kind]: { readonly kind: K; readonly organizationId: string } & Subjects[K]
}[Kind]

/** What other nodes must hear of. */
export type ChangeDraft = DraftOf<ChangeKind>

/** A change of some kind as the feed tells it; its token is random: the same sequence in another history has another one. */
export type ChangeOf<Kind extends ChangeKind> = DraftOf<Kind> & FeedMark

/** A change as the feed tells it. */
export type Change = ChangeOf<ChangeKind>

/** The text in which a change's subjects are stored. */
export function subjectText(draft: ChangeDraft): string {
  if (!('endpointIds' in draft)) return draft.subjectId
  return draft.endpointIds === 'all' ? draft.organizationId : draft.endpointIds.join(' ')
}

/** A change as it was stored; one of a kind that this version does not know is heard by nobody. */
export function storedChange(
  mark: FeedMark,
  stored: { readonly kind: string; readonly organizationId: string; readonly subjects: string },
): Change {
  const { kind, organizationId, subjects } = stored
  const named =
    kind === 'endpoint' || kind === 'delivery'
      ? { endpointIds: subjects === organizationId ? 'all' : subjects.split(' ') }
      : { subjectId: subjects }
  // What was stored was typed when it was written.
  return { ...mark, kind, organizationId, ...named } as Change
}
