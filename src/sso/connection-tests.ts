import { record } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { createId, type OrganizationId, type UserId } from '../ids.ts'
import { faultOf } from '../oidc/index.ts'
import { minuteMs } from '../units.ts'
import {
  connections,
  connectionTests,
  type Actor,
  type ConnectionTestRecord,
  type Store,
} from '../store/index.ts'
import type { CompanyPerson } from './connection-claims.ts'
import type { Connection } from './connections.ts'

/** The steps of a sign-in, in the order in which a test goes through them. */
export const testSteps = [
  'discovery',
  'answer',
  'token',
  'id_token',
  'userinfo',
  'claims',
  'decision',
] as const

export type TestStep = (typeof testSteps)[number]

export interface TestLine {
  readonly step: TestStep
  /** `skipped`: the test did not get that far, or the connection does not have this step. */
  readonly outcome: 'passed' | 'failed' | 'skipped'
  readonly sentence: string
  /** The code with which a real sign-in would have been refused. */
  readonly code?: string | undefined
  readonly check?: string | undefined
}

/** The result of a test: each step, and the person whom the provider's claims describe. */
export interface TestResult {
  readonly lines: readonly TestLine[]
  readonly person:
    | (Omit<CompanyPerson, 'mail' | 'idToken'> & { readonly email: string | undefined })
    | undefined
}

const openForMs = 30 * minuteMs

/** Tests connections: a test goes through a whole sign-in and explains each step, but signs nobody in. */
export class ConnectionTests {
  readonly #store: Store
  readonly #clock: Clock

  constructor({ store, clock }: { readonly store: Store; readonly clock: Clock }) {
    this.#store = store
    this.#clock = clock
  }

  /** Starts a test; the administrator opens the returned address in a browser. */
  async start(
    { id: connectionId, organizationId, initiateLoginUri }: Connection,
    userId: UserId,
    actor: Actor,
  ): Promise<{ id: string; address: string }> {
    const id = createId('op')
    await this.#store.transaction(async (tx) => {
      await connectionTests.insert(tx, { id, connectionId, organizationId, userId })
      record(tx, {
        organizationId,
        actor,
        action: 'sso.connection_tested',
        subject: { kind: 'connection', id: connectionId },
        detail: { test_id: id },
      })
    })
    return { id, address: `${initiateLoginUri}?test=${id}` }
  }

  /** Throws `not_found`. */
  async get(
    organizationId: OrganizationId,
    connectionId: string,
    id: string,
  ): Promise<ConnectionTestRecord> {
    const found = await connectionTests.find(this.#store, { organizationId, id: connectionId }, id)
    if (!found) throw new Problem('not_found', 'There is no such test of this connection.')
    return found
  }

  /** Whether a test can still be run: only once, and within half an hour of its start. */
  async isOpen(connection: Connection, id: string): Promise<boolean> {
    const found = await connectionTests.find(this.#store, connection, id)
    if (found === undefined || found.finishedAt !== undefined) return false
    return this.#clock.now() - found.createdAt < openForMs
  }

  /** Saves the result of a test, unless it was finished before. */
  async finish(
    { id: connectionId, organizationId }: Connection,
    id: string,
    lines: TestLines,
  ): Promise<void> {
    const failure = lines.failure()
    const passed = failure === undefined
    const result = lines.result()
    await this.#store.transaction(async (tx) => {
      const test = { organizationId, id }
      if (!(await connectionTests.finish(tx, test, { passed, result }))) return
      // A failed test counts as a refusal, so that the connection's page says what failed.
      const outcome = passed ? 'tested' : { refusal: { ...failure, at: tx.now, byTest: true } }
      await connections.noteOutcome(tx, { organizationId, id: connectionId, outcome })
    })
  }
}

/** The lines of one test, written while it runs. */
export class TestLines {
  readonly #lines = new Map<TestStep, TestLine>()
  #person: TestResult['person']

  /** Returns the code and sentence of the step that failed; undefined if none did. */
  failure(): { code: string; sentence: string } | undefined {
    const line = [...this.#lines.values()].find(({ outcome }) => outcome === 'failed')
    return line && { code: line.code ?? 'internal_error', sentence: line.sentence }
  }

  result(): TestResult {
    const lines = testSteps.map((step) => this.#lines.get(step) ?? skipped(step))
    return { lines, person: this.#person }
  }

  pass(step: TestStep, sentence: string): void {
    this.#lines.set(step, { step, outcome: 'passed', sentence })
  }

  /** Records the step at which a problem occurred; later steps count as skipped. */
  fail(error: unknown, step = stepOf(error)): void {
    const known = error instanceof Problem
    this.#lines.set(step, {
      step,
      outcome: 'failed',
      sentence: known ? error.message : 'Something went wrong here.',
      code: known ? error.code : 'internal_error',
      check: faultOf(error)?.check,
    })
  }

  /** Records the person whom the provider described, without the id_token: results are kept unsealed. */
  read(person: CompanyPerson): void {
    const { mail, idToken: _, ...rest } = person
    this.#person = { ...rest, email: mail?.address }
  }
}

function skipped(step: TestStep): TestLine {
  const sentence =
    step === 'userinfo'
      ? 'The provider has none, or it is not asked.'
      : 'This step was not reached.'
  return { step, outcome: 'skipped', sentence }
}

// A fault of the provider's keys is shown at the id_token, because the keys verify the id_token.
function stepOf(error: unknown): TestStep {
  const step = faultOf(error)?.step
  switch (step) {
    case 'discovery':
    case 'token':
    case 'id_token':
    case 'userinfo':
      return step
    case 'keys':
      return 'id_token'
    case 'callback':
      return 'answer'
    default:
      return 'decision'
  }
}
