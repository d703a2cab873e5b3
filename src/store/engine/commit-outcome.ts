/**
 * Thrown when a transaction may have been committed (`unknown`), or was committed but not confirmed by all nodes
 * (`unconfirmed`). A retry could make the change twice; the error has no `code`, because some codes allow a retry.
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
