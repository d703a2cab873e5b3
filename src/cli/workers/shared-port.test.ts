import assert from 'node:assert/strict'
import type { Worker } from 'node:cluster'
import { EventEmitter, once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { freePort } from '../../http/index.ts'
import type { FromSupervisor, FromWorker } from './port-messages.ts'
import { SharedPort } from './shared-port.ts'

const host = '127.0.0.1'

test('the port opens with the first worker, closes with the last, and opens again', async () => {
  const { port, start } = await openSharedPort()
  const [first, second] = [start(), start()]
  await Promise.all([first.listen(port), second.listen(port)])
  await first.stop()
  const caller = connect(port, host)
  await once(caller, 'connect')
  await second.stop()
  // Beside it are connections by which the listener found that nobody waits in the kernel's queue.
  assert.ok(second.taken.some(({ remotePort }) => remotePort === caller.localPort))
  assert.equal(await isOpen(port), false)
  const third = start()
  // While it still closes, a worker that asks must wait.
  await third.listen(port)
  assert.equal(await isOpen(port), true)
  await third.stop()
  caller.destroy()
  for (const socket of second.taken) socket.destroy()
})

test('the port closes when the last worker has died, even if it died while it asked', async () => {
  const { port, start } = await openSharedPort()
  const worker = start()
  worker.ask({ kind: 'intercept:listen', host, port })
  worker.die()
  const other = start()
  await other.listen(port)
  other.die()
  while (await isOpen(port));
})

test('a worker that asks for a port in use gets the system error, and the port may open later', async () => {
  const { port, start } = await openSharedPort()
  const owner = start()
  await owner.listen(port)
  const { port: _, start: startElsewhere } = await openSharedPort()
  const worker = startElsewhere()
  const [refusal] = await worker.answers({ kind: 'intercept:listen', host, port })
  assert.equal(refusal?.kind, 'intercept:not-listening')
  assert.equal(refusal.error.code, 'EADDRINUSE')
  await owner.stop()
  await worker.listen(port)
  await worker.stop()
})

async function openSharedPort() {
  const sharedPort = new SharedPort(() => {})
  const start = (): FakeWorker => {
    const worker = new FakeWorker()
    sharedPort.serve(worker as unknown as Worker, () => {})
    return worker
  }
  return { port: await freePort(host), start }
}

/** A worker as the supervisor sees it. */
class FakeWorker extends EventEmitter {
  readonly taken: Socket[] = []
  #isDead = false

  send(message: FromSupervisor, ...rest: unknown[]): void {
    const sent = rest.at(-1) as (error: Error | null) => void
    if (this.#isDead) {
      process.nextTick(sent, new Error('the channel is closed'))
      return
    }
    if (message.kind === 'intercept:connection') this.taken.push(rest[0] as Socket)
    process.nextTick(sent, null)
    this.emit('answer', message)
  }

  isDead(): boolean {
    return this.#isDead
  }

  die(): void {
    this.#isDead = true
    this.emit('exit')
  }

  ask(message: FromWorker): void {
    this.emit('message', message)
  }

  async answers(message: FromWorker): Promise<FromSupervisor[]> {
    const answered = once(this, 'answer')
    this.ask(message)
    return (await answered) as FromSupervisor[]
  }

  async listen(port: number): Promise<void> {
    const [answer] = await this.answers({ kind: 'intercept:listen', host, port })
    assert.equal(answer?.kind, 'intercept:listening')
  }

  async stop(): Promise<void> {
    const stopped = Promise.withResolvers<void>()
    this.on('answer', ({ kind }: FromSupervisor) => {
      if (kind === 'intercept:stopped') stopped.resolve()
    })
    this.ask({ kind: 'intercept:stop' })
    await stopped.promise
  }
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, host)
  const isConnected = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  })
  socket.destroy()
  return isConnected
}
