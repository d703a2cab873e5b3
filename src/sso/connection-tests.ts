import { record } from '../audit/index.ts'
import { Problem } from '../errors.ts'
import { createId, type OrganizationId, type UserId } from '../ids.ts'
import { faultOf } from '../oidc/index.ts'
import {
  connections,
  connectionTests,
  type Actor,
  type ConnectionTestRecord,
  type Store,
} from '../store/index.ts'
import type { CompanyPerson } from './connection-claims.ts'
import type { Connection } from './connections.ts'

/** The steps of a sign-in, in the order in which a test walks them. */
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

/** One line of a test's result. */
export interface TestLine {
  readonly step: TestStep
  /** `skipped`: not reached, or the provider has it not. */
  readonly outcome: 'passed' | 'failed' | 'skipped'
  readonly sentence: string
  /** The problem it would have been. */
  readonly code?: string | undefined
  readonly check?: string | undefined
}

/** What a test found: each step, and the person as this organization would read them. */
export interface TestResult {
  readonly lines: readonly TestLine[]
  readonly person:
    | (Omit<CompanyPerson, 'mail'> & { readonly email: string | undefined })
    | undefined
}

/** Tests of connections: the whole flow, explained, and nobody signed in. */
export interface ConnectionTests {
  /** Begins a test; its address is opened in the administrator's browser. */
  start(
    connection: Connection,
    userId: UserId,
    actor: Actor,
  ): Promise<{ id: string; address: string }>
  /** `not_found`. */
  get(
    organizationId: OrganizationId,
    connectionId: string,
    id: string,
  ): Promise<ConnectionTestRecord>
  /** Whether a test may still be walked: half an hour, once. */
  isOpen(connection: Connection, id: string): Promise<boolean>
  finish(connection: Connection, id: string, lines: TestLines): Promise<void>
}

const openForMs = 30 * 60_000

/** Opens the tests. */
export function createConnectionTests(deps: { store: Store; now: () => number }): ConnectionTests {
  const { store } = deps
  return {
    async start(connection, userId, actor) {
      const { organizationId } = connection
      const id = createId('op')
      await store.transaction(async (tx) => {
        await connectionTests.insert(tx, {
          id,
          connectionId: connection.id,
          organizationId,
          userId,
        })
        record(tx, {
          organizationId,
          actor,
          action: 'sso.connection_tested',
          subject: { kind: 'connection', id: connection.id },
          detail: { test_id: id },
        })
      })
      return { id, address: `${connection.initiateLoginUri}?test=${id}` }
    },
    async get(organizationId, connectionId, id) {
      const found = await connectionTests.find(store, { organizationId, id: connectionId }, id)
      if (!found) throw new Problem('not_found', 'There is no such test of this connection.')
      return found
    },
    async isOpen(connection, id) {
      const found = await connectionTests.find(store, connection, id)
      return (
        found !== undefined &&
        found.finishedAt === undefined &&
        deps.now() - found.createdAt < openForMs
      )
    },
    async finish(connection, id, lines) {
      const passed = lines.passed()
      await store.transaction(async (tx) => {
        const { organizationId } = connection
        const result = lines.result()
        const open = await connectionTests.finish(tx, { organizationId, id }, { passed, result })
        if (!open) return
        const failure = lines.failure()
        // A connection whose test has failed is not untested: its page says what failed.
        const outcome =
          failure === undefined
            ? ('tested' as const)
            : { refusal: { ...failure, at: tx.now, byTest: true } }
        await connections.noteOutcome(tx, { organizationId, id: connection.id, outcome })
      })
    },
  }
}

/** The lines of a test as they come about. */
export interface TestLines {
  passed(): boolean
  /** What the test stopped at. */
  failure(): { code: string; sentence: string } | undefined
  result(): TestResult
  pass(step: TestStep, sentence: string): void
  /** The step that a problem stopped at; what comes after it is skipped. */
  fail(error: unknown, step?: TestStep): void
  read(person: CompanyPerson): void
}

/** An empty result. */
export function createTestLines(): TestLines {
  const lines = new Map<TestStep, TestLine>()
  let person: TestResult['person']
  return {
    passed: () => [...lines.values()].every(({ outcome }) => outcome !== 'failed'),
    failure() {
      const line = [...lines.values()].find(({ outcome }) => outcome === 'failed')
      return line && { code: line.code ?? 'internal_error', sentence: line.sentence }
    },
    result: () => ({ lines: testSteps.map((step) => lines.get(step) ?? skipped(step)), person }),
    pass: (step, sentence) => void lines.set(step, { step, outcome: 'passed', sentence }),
    fail(error, at) {
      const step = at ?? stepOf(error)
      const known = error instanceof Problem
      lines.set(step, {
        step,
        outcome: 'failed',
        sentence: known ? error.message : 'Something went wrong here.',
        code: known ? error.code : 'internal_error',
        check: faultOf(error)?.check,
      })
    },
    read(read) {
      const { mail, ...rest } = read
      person = { ...rest, email: mail?.address }
    },
  }
}

function skipped(step: TestStep): TestLine {
  const sentence =
    step === 'userinfo'
      ? 'The provider has none, or it is not asked.'
      : 'This step was not reached.'
  return { step, outcome: 'skipped', sentence }
}

// Keys are fetched while the id_token is checked: that is where they belong for whoever reads the lines.
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
