import type { UserId } from '../../ids.ts'
import { Problem } from '../../errors.ts'
import { digest } from '../../secrets/index.ts'
import { asStorageProblem, idempotentAnswers, type Tx } from '../../store/index.ts'
import type { Services } from './services.ts'
import { dayMs, minuteMs } from '../../units.ts'

const keptMs = dayMs
const abandonedAfterMs = minuteMs
const maxKeyLength = 255

/** A creation sent with an Idempotency-Key. */
export interface Creation {
  /** The id of a user or a token. */
  readonly callerId: string
  readonly key: string
  readonly route: string
  /** The request's URL and body, as text. */
  readonly request: string
}

/**
 * Creates only once per caller and Idempotency-Key within 24 hours, and repeats the response. Throws
 * `idempotency_conflict` (409) for another request with the same key, and for a repeated one whose response is missing.
 */
export async function once<T>(
  services: Services,
  creation: Creation,
  create: () => Promise<T>,
): Promise<T> {
  const { store, sealer } = services
  const userId = creation.callerId as UserId
  if (creation.key.length > maxKeyLength) {
    throw new Problem('invalid_input', `An Idempotency-Key has at most ${maxKeyLength} characters.`)
  }
  const keyDigest = digest(creation.key)
  const requestDigest = digest(creation.request)
  const context = ['user', userId, `idempotent ${keyDigest}`]
  const entry = { userId, keyDigest, route: creation.route, requestDigest }
  const taken = await store.transaction(async (tx) => {
    await idempotentAnswers.forget(tx, tx.now - keptMs)
    const known = await idempotentAnswers.find(tx, userId, keyDigest)
    if (known && known.status === undefined && known.createdAt < tx.now - abandonedAfterMs) {
      await idempotentAnswers.release(tx, userId, keyDigest)
    }
    return await idempotentAnswers.take(tx, entry)
  })
  if (!taken) {
    const known = await idempotentAnswers.find(store, userId, keyDigest)
    const isOld = known !== undefined && known.createdAt < services.clock.now() - abandonedAfterMs
    if (isOld && known.status !== undefined && known.answerSealed === undefined) throw lost()
    return JSON.parse(sealer.open(answerTo(known, creation, requestDigest), context)) as T
  }
  try {
    let marked = false
    // The key is marked as done in the creation's own transaction, so that a retry after a crash creates nothing twice.
    const answer = await store.accompanied(async (tx) => {
      const isOurs = await idempotentAnswers.markDone(tx, { userId, keyDigest, status: 201 })
      if (!isOurs && !marked) throw overtaken()
      marked = true
    }, create)
    const answerSealed = sealer.seal(JSON.stringify(answer), context)
    const kept = { userId, keyDigest, answer: { status: 201, answerSealed } }
    await unlessAway(store.transaction(async (tx) => await idempotentAnswers.keep(tx, kept)))
    return answer
  } catch (error) {
    // `release` keeps a key that is marked as done, because the creation may have been committed despite the error.
    const release = async (tx: Tx) => await idempotentAnswers.release(tx, userId, keyDigest)
    await unlessAway(store.transaction(release))
    throw error
  }
}

/** Ignores an unavailable database, because the creation has already succeeded or failed. */
async function unlessAway(writing: Promise<void>): Promise<void> {
  await writing.catch((error: unknown) => {
    if (asStorageProblem(error) === undefined) throw error
  })
}

function lost(): Problem {
  return new Problem(
    'idempotency_conflict',
    'The first request with this Idempotency-Key was carried out, but its response was lost. Look for what it made; to make another, use a new key.',
  )
}

function overtaken(): Problem {
  return new Problem(
    'idempotency_conflict',
    'This took too long, and another request with the same Idempotency-Key is at work.',
  )
}

function answerTo(
  known: Awaited<ReturnType<typeof idempotentAnswers.find>>,
  creation: Creation,
  requestDigest: string,
): string {
  if (known && (known.route !== creation.route || known.requestDigest !== requestDigest)) {
    throw new Problem(
      'idempotency_conflict',
      'This Idempotency-Key came with another request before. Use a new one.',
    )
  }
  if (known?.answerSealed === undefined) {
    throw new Problem(
      'idempotency_conflict',
      'The first request with this Idempotency-Key is still at work. Try again shortly.',
      { headers: { 'Retry-After': '1' } },
    )
  }
  return known.answerSealed
}
