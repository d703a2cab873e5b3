import assert from 'node:assert/strict'
import { getPriority } from 'node:os'
import { test } from 'node:test'
import { Problem } from '../../errors.ts'
import { idsOfThreads } from '../../thread-priority.ts'
import { parseAside } from './parse-aside.ts'
import { readFileAside } from './read.ts'

const head = 'version: 1\norganization:\n  slug: acme\n'

/** Counts the turns of the event loop while awaiting something. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0
  let isDone = false
  const turn = (): void => {
    turns += 1
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  await work.finally(() => (isDone = true))
  return turns
}

test('a file of 10,000 targets is read while the process serves others', async () => {
  const targets = Array.from({ length: 10_000 }, (_, at) => `  t${at}: {upstream: "http://a.test"}`)
  const reading = readFileAside(`${head}targets:\n${targets.join('\n')}\n`, 'f')
  assert.ok((await turnsDuring(reading)) > 50)
  assert.equal((await reading).entries.targets.size, 10_000)
})

test('the thread that reads a file yields to calls', async (context) => {
  if (process.platform !== 'linux') return context.skip('only Linux has priorities of threads')
  const before = new Set(idsOfThreads())
  const reading = parseAside('a: 1')
  const lowered = Math.min(19, getPriority(process.pid) + 5)
  // The thread has been started by then, and cannot have ended.
  await new Promise((resolve) => setImmediate(resolve))
  const started = idsOfThreads().filter((id) => !before.has(id))
  assert.ok(started.some((id) => getPriority(id) === lowered))
  await reading
})

test('the process serves others while a file of 20,000 unknown names is read and refused', async () => {
  const names = Array.from({ length: 20_000 }, (_, at) => `k${at}: 1`)
  const reading = readFileAside(head + names.join('\n'), 'f')
  const refused = reading.catch((error: unknown) => error)
  assert.ok((await turnsDuring(refused)) > 50)
  assert.match(((await refused) as Problem).message, /f:4: k0 is not known here/)
})

test('a file that takes too much memory or time to read is refused, and the process lives', async () => {
  const commas = `x: [${'1,'.repeat(500_000)}]`
  const tooMuch = { code: 'invalid_input', message: /more time or memory/ }
  await assert.rejects(parseAside(commas, { megabytes: 24, withinMs: 60_000 }), tooMuch)
  await assert.rejects(parseAside(commas, { megabytes: 384, withinMs: 1 }), tooMuch)
})

test('more files at once than a node reads are sent away, and small ones wait for no large ones', async () => {
  const large = `a: ${'x'.repeat(70_000)}`
  const waiting = Array.from({ length: 8 }, async () => await parseAside(large))
  await assert.rejects(parseAside(large), { code: 'rate_limited' })
  assert.ok('root' in (await parseAside('a: 1')))
  await Promise.all(waiting)
})

const faults: Readonly<Record<string, readonly [text: string, says: RegExp]>> = {
  'nesting without end': [
    `${head}targets: ${'['.repeat(20_000)}`,
    /^f:4: This is nested too deeply/,
  ],
  'nesting beyond 32': [`${head}targets: ${'['.repeat(40)}${']'.repeat(40)}`, /deeper than 32/],
  'a name that is a list': [`${head}? [a]\n: 1\n`, /^f:4: A name must be a text/],
  'a name twice': [`${head}targets:\n  a: {}\n  a: {}\n`, /^f:6: Map keys must be unique/],
  'a text that names a prototype': [
    `${head}targets:\n  __proto__: {}\n`,
    /^f:5: .*is no name here/,
  ],
  'a fault beside a secret': [`${head}targets: {a: "canary}\n`, /^f:\d: [^\n]*$/],
}
for (const [name, [text, says]] of Object.entries(faults)) {
  test(`${name} is refused in one sentence that quotes nothing`, async () => {
    const error: Problem = await readFileAside(text, 'f').then(
      () => assert.fail('it was read'),
      (refused: Problem) => refused,
    )
    assert.equal(error.code, 'invalid_input')
    assert.match(error.message, says)
    assert.doesNotMatch(error.message, /canary/)
  })
}
