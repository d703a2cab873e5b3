import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import type { SessionId, UserId } from '../ids.ts'
import { digest, type Sealer } from '../secrets/index.ts'
import { usedOnce, type IdentityKey, type Store } from '../store/index.ts'
import { minuteMs } from '../units.ts'
import { emailFrom, nameFrom } from './name.ts'

const lifetimeMs = 10 * minuteMs
const context = ['system', 'identity', 'proof']

/** The facts that a provider has proven about a person. */
export interface ProvenIdentity extends IdentityKey {
  readonly provider: string
  readonly email: string | undefined
  readonly emailVerified: boolean
  readonly name: string | undefined
}

/**
 * Normalizes the name, because providers let people choose almost any; drops an `email` that is not an e-mail address.
 */
export function withCleanTexts(proven: ProvenIdentity): ProvenIdentity {
  const email = emailFrom(proven.email)
  const emailVerified = email !== undefined && proven.emailVerified
  return { ...proven, email, emailVerified, name: nameFrom(proven.name) }
}

/** The person and session that may confirm a proof. */
export interface ProofHolder {
  readonly userId: UserId
  readonly sessionId: SessionId
}

/**
 * Makes and checks sealed proofs of an identity that awaits confirmation. Each proof works once, for ten minutes, for
 * one person, one session and one subject (CVE-2026-9087).
 */
export interface IdentityProofs {
  make(proven: ProvenIdentity, holder: ProofHolder): string
  /** Returns the content of a proof without consuming the proof; throws `link_invalid` (400). */
  read(proof: string, holder: ProofHolder): ProvenIdentity
  /** Like `read`, but consumes the proof; also throws `link_invalid` if the proof was used before. */
  use(proof: string, holder: ProofHolder): Promise<ProvenIdentity>
}

interface Proof extends ProofHolder {
  readonly proven: ProvenIdentity
  readonly at: number
}

/** Creates proofs that are stored nowhere: only the use of a proof is recorded. */
export function createIdentityProofs(deps: {
  store: Store
  sealer: Sealer
  clock: Clock
}): IdentityProofs {
  const { store, sealer, clock } = deps

  function check(proof: string, holder: ProofHolder): Proof {
    const found = open(sealer, proof)
    const fits =
      found !== undefined &&
      clock.now() - found.at <= lifetimeMs &&
      found.userId === holder.userId &&
      found.sessionId === holder.sessionId
    if (!fits) throw invalid()
    return found
  }

  return {
    make: (proven, { userId, sessionId }) => {
      const proof: Proof = { proven, userId, sessionId, at: clock.now() }
      return Buffer.from(sealer.seal(JSON.stringify(proof), context)).toString('base64url')
    },
    read: (proof, holder) => check(proof, holder).proven,
    async use(proof, holder) {
      const found = check(proof, holder)
      // The content is digested rather than the text, because base64url has several spellings of the same bytes.
      const said = digest(`proof ${JSON.stringify(found)}`)
      const first = await store.transaction(
        async (tx) => await usedOnce.use(tx, said, found.at + 2 * lifetimeMs),
      )
      if (!first) throw invalid()
      return found.proven
    },
  }
}

function open(sealer: Sealer, proof: string): Proof | undefined {
  try {
    return JSON.parse(sealer.open(Buffer.from(proof, 'base64url').toString(), context)) as Proof
  } catch {
    return undefined
  }
}

function invalid(): Problem {
  return new Problem(
    'link_invalid',
    'The confirmation is older than 10 minutes, was used, or belongs to another session. Start again.',
  )
}
