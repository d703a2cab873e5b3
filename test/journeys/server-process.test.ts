import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { portForTests } from '../harness/ports.ts'
import { childrenOf, startServerProcess } from '../harness/server-process.ts'

const launch = `((words) => require('node:child_process').spawn(process.execPath, words, {
  stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
}))`
const launcher = join(import.meta.dirname, '..', '..', 'bin', 'intercept.js')

describe('a server process', () => {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-process-'))
  after(() => rmSync(folder, { recursive: true }))

  test('starts to ready on empty data, prints the setup link, and ends with 0 on SIGTERM', async (t) => {
    const startedAt = performance.now()
    await using server = await startServerProcess({ DATA_DIR: join(folder, 'one') })
    assert.equal((await fetch(`${server.baseUrl}/readyz`)).status, 200)
    // The limit for a start is 5 s, and about 1 s is usual. On a shared machine times vary, so the time is only
    // printed.
    t.diagnostic(`ready after ${Math.round(performance.now() - startedAt)} ms`)
    await until(() => server.lines.some((line) => /\/setup\?token=/.test(line)))
    server.kill('SIGTERM')
    assert.deepEqual(await server.ended, { code: 0, signal: null })
  })

  test('gives its threads the cache of compiled code, so that none loads a TypeScript compiler', () => {
    const telling = "process.once('exit', () => console.error(process.env.NODE_COMPILE_CACHE))"
    const preload = `--import "data:text/javascript,${encodeURIComponent(telling)}"`
    const env = { PATH: process.env['PATH'], NODE_OPTIONS: preload }
    const { stderr } = spawnSync(process.execPath, [launcher, '--version'], { env })
    assert.match(String(stderr), /node_modules.\.cache.intercept\n$/)
  })

  test('runs with a small young generation for all new objects, one thread of V8 and few heaps, its workers too, unless the environment chooses otherwise', async (t) => {
    if (process.platform !== 'linux') {
      t.skip('only Linux shows the words of a process')
      return
    }
    const flag = /--max-semi-space-size=4 /
    const pool = /--v8-pool-size=1 /
    const settings = { DATA_DIR: join(folder, 'young'), WORKERS: '2', PORT: '0' }
    await using server = await startServerProcess(settings)
    await until(() => childrenOf(server.pid).length === 2)
    for (const id of [server.pid, ...childrenOf(server.pid)]) {
      assert.match(wordsOf(id), flag)
      assert.match(wordsOf(id), pool)
      assert.match(wordsOf(id), /--no-parallel-scavenge /)
      assert.match(wordsOf(id), /--no-allocation-site-pretenuring /)
      assert.match(wordsOf(id), /--no-memory-reducer-favors-memory /)
      assert.match(wordsOf(id), /--no-separate-gc-phases /)
      assert.match(wordsOf(id), /--max-inlined-bytecode-size-cumulative=4000 /)
      assert.equal(threadsOfV8(id).length, 1)
      assert.match(environmentOf(id), /\0MALLOC_ARENA_MAX=2\0/)
      assert.match(environmentOf(id), /\0MALLOC_MMAP_THRESHOLD_=32768\0/)
      if (hugePageBytes() === 2_097_152) {
        assert.match(environmentOf(id), /\0GLIBC_TUNABLES=glibc\.malloc\.hugetlb=1\0/)
      } else {
        assert.doesNotMatch(environmentOf(id), /GLIBC_TUNABLES/)
      }
    }
    const chosenHeaps = { MALLOC_ARENA_MAX: '7', GLIBC_TUNABLES: 'glibc.malloc.hugetlb=0' }
    const heaps = { DATA_DIR: join(folder, 'heaps'), ...chosenHeaps }
    await using many = await startServerProcess(heaps)
    assert.match(environmentOf(many.pid), /\0MALLOC_ARENA_MAX=7\0/)
    assert.match(environmentOf(many.pid), /\0GLIBC_TUNABLES=glibc\.malloc\.hugetlb=0\0/)
    const chosen = { DATA_DIR: join(folder, 'old'), NODE_OPTIONS: '--max-semi-space-size=32' }
    await using other = await startServerProcess(chosen)
    assert.doesNotMatch(wordsOf(other.pid), flag)
    assert.match(wordsOf(other.pid), pool)
    const four = { DATA_DIR: join(folder, 'four'), NODE_OPTIONS: '--v8-pool-size=4' }
    await using wide = await startServerProcess(four)
    assert.doesNotMatch(wordsOf(wide.pid), pool)
    assert.match(wordsOf(wide.pid), flag)
    assert.equal(threadsOfV8(wide.pid).length, 4)
  })

  test('the threads on which V8 compiles and collects garbage yield to calls, in its workers too', async (t) => {
    if (process.platform !== 'linux') {
      t.skip('only Linux has priorities of threads')
      return
    }
    const lowered = Math.min(19, getPriority() + 5)
    await using server = await startServerProcess({ DATA_DIR: join(folder, 'yields') })
    const settings = { DATA_DIR: join(folder, 'workers-yield'), WORKERS: '2' }
    await using supervisor = await startServerProcess(settings)
    await until(() => childrenOf(supervisor.pid).length === 2)
    for (const id of [server.pid, ...childrenOf(supervisor.pid)]) {
      await until(() => threadsOfV8(id).every((thread) => getPriority(thread) === lowered))
      assert.equal(threadsOfV8(id).length, 1)
      assert.equal(getPriority(id), getPriority())
    }
  })

  test('wrong settings end it with 1 and one sentence each', async () => {
    const wrong = { DATA_DIR: folder, BASE_URL: 'http://api.example.com', PORT: 'x' }
    await assert.rejects(startServerProcess(wrong), (error: Error) => {
      assert.match(error.message, /PORT must be a port number/)
      assert.match(error.message, /BASE_URL must begin with https:/)
      assert.doesNotMatch(error.message, / at .*\.ts:/)
      return true
    })
  })

  test('with several workers a killed one is replaced, and all end on SIGTERM', async () => {
    const data = join(folder, 'several')
    // The port is fixed: if the killed process was the only one listening, its replacement would otherwise choose
    // another port.
    const PORT = String(await portForTests())
    await using server = await startServerProcess({ DATA_DIR: data, WORKERS: '2', PORT })
    await until(() => childrenOf(server.pid).length === 2)
    const [victim = 0] = childrenOf(server.pid)
    process.kill(victim, 'SIGKILL')
    await until(() => {
      const children = childrenOf(server.pid)
      return children.length === 2 && !children.includes(victim)
    })
    await until(async () => {
      const response = await fetch(`${server.baseUrl}/readyz`).catch(() => undefined)
      return response?.status === 200
    })
    const children = childrenOf(server.pid)
    server.kill('SIGTERM')
    assert.deepEqual(await server.ended, { code: 0, signal: null })
    for (const child of children) assert.throws(() => process.kill(child, 0))
  })

  test('a node whose npx or launcher is gone drains and ends', async () => {
    for (const [starter, signal] of [
      ['npx', 'SIGTERM'],
      ['npx', 'SIGKILL'],
      ['launcher', 'SIGKILL'],
    ] as const) {
      const env = { PATH: process.env['PATH'], PORT: '0', LOG_LEVEL: 'info', HOME: folder }
      const data = { DATA_DIR: join(folder, `${starter}-${signal}`) }
      const [program, ...words] =
        starter === 'npx'
          ? ['npx', '--offline', 'intercept', 'serve']
          : // Imitates the launcher under an older Node, which starts the node with a channel to itself.
            [process.execPath, '-e', `${launch}(${JSON.stringify([launcher, 'serve'])})`]
      const child = spawn(program, words, {
        cwd: join(launcher, '..', '..'),
        env: { ...env, ...data },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      })
      let text = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (part: string) => (text += part))
      }
      const said = Promise.all([once(child.stdout, 'close'), once(child.stderr, 'close')])
      try {
        await until(() => text.includes('Intercept listens at'))
        child.kill(signal)
        // Both pipes close when the last process that holds them has ended: the node itself.
        await said
        assert.match(text, /Stopping: open requests finish first/, `${starter} ${signal}`)
      } finally {
        try {
          process.kill(-(child.pid ?? 0), 'SIGKILL')
        } catch {
          // No process of the group is left, as expected.
        }
      }
    }
  })

  test('LAME_DUCK: after SIGTERM /readyz says 503 while requests are still taken, then all ends', async () => {
    const metricsPort = await portForTests()
    await using server = await startServerProcess({
      DATA_DIR: join(folder, 'duck'),
      METRICS_PORT: String(metricsPort),
      LAME_DUCK: '1s',
    })
    const ready = async (origin: string) => (await fetch(`${origin}/readyz`)).status
    assert.equal(await ready(server.baseUrl), 200)
    server.kill('SIGTERM')
    await until(async () => (await ready(server.baseUrl)) === 503)
    const taken = await fetch(`${server.baseUrl}/api/v1/intercept`)
    assert.equal(taken.status, 401)
    assert.equal(taken.headers.get('connection'), 'close')
    assert.equal((await fetch(`${server.baseUrl}/healthz`)).status, 200)
    assert.equal(await ready(`http://127.0.0.1:${metricsPort}`), 503)
    assert.deepEqual(await server.ended, { code: 0, signal: null })
  })

  test('workers that cannot start end, say why, are tried again, and the node still ends on SIGTERM', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const env = { PATH: process.env['PATH'], DATA_DIR: join(folder, 'taken'), WORKERS: '2' }
    const child = spawn(process.execPath, [launcher, 'serve'], {
      env: { ...env, PORT: String(port), PROT: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    try {
      let text = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (part: string) => (text += part))
      }
      await until(() => /Another program listens/.test(text))
      // The exit code of each worker that could not start is logged, and the wait before the next start grows.
      await until(() => /"code":1.*could not start; it is started again in 2 s/.test(text))
      assert.match(text, /"code":1.*could not start; it is started again in 1 s/)
      assert.doesNotMatch(text, /"code":0|has died/)
      // A setting that looks misspelt is reported once and does not stop the start.
      assert.equal(text.match(/"warn".*PROT is not a setting; did you mean PORT/g)?.length, 1)
      child.kill('SIGTERM')
      const [code] = (await once(child, 'exit')) as [number]
      assert.equal(code, 0)
    } finally {
      child.kill('SIGKILL')
      taken.close()
    }
  })

  test('workers name a HOST that is not known as a single process does', async () => {
    const data = { DATA_DIR: join(folder, 'nowhere'), HOST: 'no-such-host.invalid' }
    for (const WORKERS of ['1', '2']) {
      const child = spawn(process.execPath, [launcher, 'serve'], {
        env: { PATH: process.env['PATH'], ...data, WORKERS },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      try {
        let text = ''
        for (const stream of [child.stdout, child.stderr]) {
          stream.setEncoding('utf8').on('data', (part: string) => (text += part))
        }
        await until(() => text.includes('The name no-such-host.invalid is not known.'))
      } finally {
        child.kill('SIGKILL')
      }
    }
  })

  test('workers do not outlive a supervisor that was killed', async () => {
    const data = join(folder, 'orphans')
    await using server = await startServerProcess({ DATA_DIR: data, WORKERS: '2' })
    await until(() => childrenOf(server.pid).length === 2)
    const children = childrenOf(server.pid)
    server.kill('SIGKILL')
    await until(() => children.every((child) => !isAlive(child)))
  })
})

function wordsOf(id: number): string {
  return readFileSync(`/proc/${id}/cmdline`, 'utf8').replaceAll('\0', ' ')
}

/** Returns the ids of the threads on which V8 compiles and collects garbage. */
function threadsOfV8(id: number): number[] {
  const threads = readdirSync(`/proc/${id}/task`).filter((thread) => {
    try {
      return readFileSync(`/proc/${id}/task/${thread}/comm`, 'utf8') === 'V8Worker\n'
    } catch {
      // The thread has ended since.
      return false
    }
  })
  return threads.map(Number)
}

/** Returns the size of a huge page; undefined if Linux has none. */
function hugePageBytes(): number | undefined {
  const file = '/sys/kernel/mm/transparent_hugepage/hpage_pmd_size'
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined
}

/** Returns a process's environment, with a zero byte before and after each variable. */
function environmentOf(id: number): string {
  return `\0${readFileSync(`/proc/${id}/environ`, 'utf8')}`
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // A killed process keeps its id until its parent has waited for it.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 20_000
  while (!(await isSo())) {
    assert.ok(performance.now() < deadline, 'waited 20 s in vain')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
