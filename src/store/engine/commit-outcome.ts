/**
 * Thrown when a failed transaction may nevertheless have changed something, so that repeating it could do it twice:
 * `unknown` when the database went away during the commit, `unconfirmed` when it went away after the commit, before the
 * other nodes had confirmed the change. The error has no `code`, because a code could make it look as if the
 * transaction may be retried.
 */
export class MaybeCommittedError extends Error {
  readonly outcome: 'unknown' | 'unconfirmed'

  constructor(outcome: 'unknown' | 'unconfirmed', cause: unknown) {
    super(texts[outcome], { cause })
    this.name = 'MaybeCommittedError'
    this.outcome = outcome
  }
}

const texts = {
  unknown: 'the database went away during a commit and did not say whether it was made',
  unconfirmed: 'the database went away after a commit, before all nodes had confirmed the change',
}
