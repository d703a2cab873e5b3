import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { readConfig } from '../../config.ts'
import { makeFolder } from '../../files.ts'
import { freePort } from '../../http/index.ts'
import { createLog } from '../../telemetry/index.ts'
import { start } from '../../main.ts'
import { Organizations } from '../../organizations/index.ts'
import type { KeyId, TargetId } from '../../ids.ts'
import { digest, randomToken } from '../../secrets/index.ts'
import { keySecrets } from '../../store/index.ts'
import { command, readWhole, type Command } from '../lib/command.ts'
import { startIdentityProvider } from '../demo/identity-provider.ts'
import { writeSample } from '../demo/sample.ts'
import { renderScreen, type DemoFacts } from '../demo/screen.ts'
import { startUpstream } from '../demo/upstream.ts'
import { commands as keyCommands } from './key.ts'
import { commands as memberCommands } from './member.ts'
import { commands as orgCommands } from './org.ts'
import { commands as receiveCommands } from './receive.ts'
import { withServices } from '../lib/services.ts'
import { commands as signInLinkCommands } from './sign-in-link.ts'
import { commands as ssoCommands } from './sso.ts'
import { commands as targetCommands } from './target.ts'
import type { Terminal } from '../lib/terminal.ts'
import { commands as webhookCommands } from './webhook.ts'

const usualPort = 8080
const receiverPort = 8082
const owner = { email: 'ada@demo.test', name: 'Ada' }
const colleague = { email: 'ada@corp.test', name: 'Ada of Corp' }

export const commands = {
  '': command({
    usage: '[--data FOLDER] [--port 8080]',
    about:
      'start everything on this machine: node, echo API, test identity provider, webhook receiver',
    options: {
      data: {
        type: 'string',
        value: 'FOLDER',
        about: 'keep the data here; a temporary folder unless given',
      },
      port: {
        type: 'string',
        default: String(usualPort),
        value: 'PORT',
        about: 'where the node listens',
      },
    },
    local: { because: 'it starts everything here' },
    examples: ['intercept demo', 'intercept demo --data ./demo --port 8081'],
    run: async ({ values }, terminal) => {
      const port = readWhole('--port', values.port, { max: 65_535, min: 0 })
      const isTemporary = values.data === undefined
      const folder = isTemporary
        ? mkdtempSync(join(tmpdir(), 'intercept-demo-'))
        : resolve(values.data ?? '')
      const stopped = terminal.untilStopped()
      try {
        const below = holdBack(terminal)
        await using running = await startDemo(folder, port, below.terminal)
        terminal.print(renderScreen({ ...running.facts, folder, isTemporary }))
        below.release()
        await stopped
      } finally {
        if (isTemporary) rmSync(folder, { recursive: true, force: true })
      }
      return undefined
    },
  }),
}

/** Starts the parts of the demo and sets them up with commands, as a person would. */
async function startDemo(
  folder: string,
  wantedPort: number,
  terminal: Terminal,
): Promise<AsyncDisposable & { facts: Omit<DemoFacts, 'folder' | 'isTemporary'> }> {
  await using opened = new AsyncDisposableStack()
  const port = await freePort('127.0.0.1', wantedPort).catch(() => freePort('127.0.0.1'))
  const env = { DATA_DIR: folder, PORT: String(port), LOG_LEVEL: 'warn' }
  const config = readConfig(env)
  const log = createLog({
    level: 'warn',
    pretty: terminal.isPerson,
    write: (line) => terminal.complain(line.trimEnd()),
  })
  const client = { id: 'intercept-demo', secret: clientSecretIn(folder) }
  const upstream = opened.use(await startUpstream())
  const provider = opened.use(await startIdentityProvider(client, colleague))
  opened.use(await start(config, { log }))
  const does = commandsIn(env)

  const known = (await does(orgCommands.list, '', {})) as unknown as { slug: string }[]
  const isNew = !known.some(({ slug }) => slug === 'demo')
  if (isNew) {
    await does(orgCommands.create, 'demo --plan enterprise', { '--name': 'Demo' })
    await does(memberCommands.add, `demo ${owner.email} --role owner`, { '--name': owner.name })
  }
  const echo = await does(targetCommands.set, `demo echo --upstream ${upstream.url}`, {
    '--rule': ['deny DELETE /admin/*', 'allow * /*'],
  })
  const { secret: webhookSecret } = await does(webhookCommands.secret, 'demo', {})
  const receiver = await startReceiver(String(webhookSecret), terminal, opened)
  await pointEndpointAt(does, receiver)
  await connectProvider(does, provider.url, client)
  if (isNew) await fillWithSample(does, env, echo)
  const key = await does(keyCommands.issue, 'demo', { '--name': 'demo key' })
  const link = await does(signInLinkCommands[''], owner.email, {})

  const closing = opened.move()
  return {
    facts: {
      baseUrl: config.baseUrl,
      takenPort: port === wantedPort ? undefined : wantedPort,
      key: { id: String(key['id']), secret: String(key['secret']) },
      signInLink: String(link['url']),
      owner: owner.email,
      colleague: colleague.email,
      providerUrl: provider.url,
      receiverUrl: receiver,
    },
    [Symbol.asyncDispose]: async () => await closing.disposeAsync(),
  }
}

/** Reads the test provider's client secret, created at the first run and kept so that the connection stays valid. */
function clientSecretIn(folder: string): string {
  makeFolder(folder)
  const file = join(folder, 'demo-client.secret')
  if (!existsSync(file)) writeFileSync(file, randomToken(), { mode: 0o600 })
  return readFileSync(file, 'utf8')
}

/** Replaces the demo's endpoints with one that has this URL, unless one of them has it already. */
async function pointEndpointAt(does: Does, url: string): Promise<void> {
  const description = 'Demo receiver'
  const endpoints = (await does(webhookCommands.list, 'demo', {})) as unknown as {
    id: string
    url: string
    description: string
  }[]
  const earlier = endpoints.filter((one) => one.description === description)
  if (earlier.some((one) => one.url === url)) return
  for (const { id } of earlier) await does(webhookCommands.remove, id, {})
  await does(webhookCommands.add, `demo --url ${url}`, { '--description': description })
}

async function connectProvider(
  does: Does,
  issuer: string,
  client: { id: string; secret: string },
): Promise<void> {
  const { connections } = (await does(ssoCommands.list, 'demo', {})) as unknown as {
    connections: { issuer: string }[]
  }
  if (connections.some((one) => one.issuer === issuer)) return
  await does(
    ssoCommands.connect,
    `demo --issuer ${issuer} --client-id ${client.id} --client-secret-stdin --domain corp.test`,
    { '--name': 'Test provider', input: client.secret },
  )
  await does(ssoCommands['verify-domain'], 'demo corp.test --override', {})
}

/** Creates a week of calls, a target that is down, and a rotated key whose old secret is still in use. */
async function fillWithSample(
  does: Does,
  env: Record<string, string>,
  echo: Record<string, unknown>,
): Promise<void> {
  const nowhere = await freePort('127.0.0.1')
  const stock = await does(
    targetCommands.set,
    `demo stock --upstream http://127.0.0.1:${nowhere}`,
    {},
  )
  const worker = await does(keyCommands.issue, 'demo --grant echo --grant stock', {
    '--name': 'orders worker',
  })
  const report = await does(keyCommands.issue, 'demo --grant echo:GET --expires 5d', {
    '--name': 'monthly report',
  })
  await does(keyCommands.rotate, `${String(worker['id'])} --overlap 24h`, {})
  await withServices(quietTerminal(env, ''), async ({ store, clock }) => {
    const organization = await new Organizations({ store }).get('demo')
    const oldSecretUse = {
      organizationId: organization.id,
      keyId: worker['id'] as KeyId,
      digest: digest(String(worker['secret'])),
      at: clock.now(),
      address: '127.0.0.1',
      agent: 'orders-worker/3.1',
      targetId: stock['id'] as TargetId,
    }
    await store.transaction(async (tx) => await keySecrets.noteUses(tx, [oldSecretUse]))
    const cast = {
      organizationId: organization.id,
      worker: worker['id'] as KeyId,
      report: report['id'] as KeyId,
      healthy: echo['id'] as TargetId,
      broken: stock['id'] as TargetId,
      ruleId: (echo['rules'] as { id: string }[])[0]?.id,
    }
    await writeSample(store, cast, clock.now())
  })
}

type Does = ReturnType<typeof commandsIn>
type Options = Readonly<Record<string, string | readonly string[]>>

/** Returns a function that runs a command in this process with the given command-line words. */
function commandsIn(env: Record<string, string>) {
  return async (
    what: Command,
    words: string,
    { input = '', ...options }: Options & { readonly input?: string },
  ): Promise<Record<string, unknown>> => {
    const more = Object.entries(options).flatMap(([name, value]) =>
      [value].flat().flatMap((one) => [name, one]),
    )
    const answer = await what.run(
      [...words.split(' ').filter(Boolean), ...more],
      quietTerminal(env, input),
      () => undefined,
    )
    // Callers of list commands cast the result; every other command used here returns one object.
    return (answer?.data ?? {}) as Record<string, unknown>
  }
}

/** Runs `intercept receive`, printing below the demo's screen; resolves to its URL once it is listening. */
async function startReceiver(
  secret: string,
  terminal: Terminal,
  opened: AsyncDisposableStack,
): Promise<string> {
  const port = await freePort('127.0.0.1', receiverPort).catch(() => freePort('127.0.0.1'))
  const stop = Promise.withResolvers<void>()
  const listening = Promise.withResolvers<string>()
  const receiving = receiveCommands['']
    .run(
      ['--port', String(port), '--secret-stdin'],
      {
        ...terminal,
        readInput: async () => secret,
        untilStopped: async () => await stop.promise,
      },
      ({ text }) => {
        const [, url] = /^Receiving at (\S+)/.exec(text) ?? []
        if (url === undefined) terminal.print(`  ${text}`)
        else listening.resolve(url)
      },
    )
    .catch((error: unknown) => listening.reject(error))
  opened.defer(async () => {
    stop.resolve()
    await receiving
  })
  return await listening.promise
}

/** Holds back what is printed during the start, so that it appears below the screen. */
function holdBack(terminal: Terminal): { terminal: Terminal; release: () => void } {
  let held: string[] | undefined = []
  const print = (line: string): void => {
    if (held === undefined) terminal.print(line)
    else held.push(line)
  }
  return {
    terminal: { ...terminal, print },
    release: () => {
      const lines = held ?? []
      held = undefined
      for (const line of lines) terminal.print(line)
    },
  }
}

function quietTerminal(env: Record<string, string>, input: string): Terminal {
  return {
    env,
    isPerson: false,
    print: () => undefined,
    complain: () => undefined,
    readInput: async () => input,
    untilStopped: async () => undefined,
  }
}
