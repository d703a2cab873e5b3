// A running product with an organization, a target and a key in each scheme, which most gateway tests need.
import { intercept } from './terminal.ts'
import { productForTests, type TestProduct } from './product.ts'
import { exchangeRaw } from './raw.ts'
import { upstreamForTests, type TestUpstream } from './upstream.ts'

export interface IssuedKey {
  readonly id: string
  readonly secret: string
}

export interface TestGateway extends AsyncDisposable {
  readonly product: TestProduct
  readonly upstream: TestUpstream
  /** Keys of organization acme for every target, one in each scheme. */
  readonly xApiKey: IssuedKey
  readonly bearer: IssuedKey
  /** Runs a command and returns its JSON; if the command fails, throws its error message. */
  run(...words: string[]): Promise<Record<string, unknown>>
  issue(...words: string[]): Promise<IssuedKey>
  /** Calls a path below the gateway's prefix, with the key if one is given. */
  call(path: string, key: IssuedKey | undefined, init?: RequestInit): Promise<Response>
  /** Sends raw bytes; `{key}` stands for the X-API-Key header line, `{prefix}` for the gateway's prefix and target. */
  raw(text: string, options?: { quietMs?: number }): Promise<string>
}

export const prefix = '/api/v1/intercept'

/** Starts the product and an upstream; the target is named echo. */
export async function gatewayForTests(
  options: {
    readonly settings?: Record<string, string>
    readonly engine?: 'sqlite' | 'postgres'
    readonly answer?: Parameters<typeof upstreamForTests>[0]
    readonly target?: readonly string[]
  } = {},
): Promise<TestGateway> {
  await using opened = new AsyncDisposableStack()
  const upstream = opened.use(await upstreamForTests(options.answer))
  const product = opened.use(
    await productForTests({
      ...(options.engine === undefined ? {} : { engine: options.engine }),
      settings: options.settings ?? {},
    }),
  )

  async function run(...words: string[]): Promise<Record<string, unknown>> {
    const result = await intercept([...words, '--json'], { env: { ...product.env } })
    if (result.code !== 0) throw new Error(`${words.join(' ')}: ${result.err}`)
    return JSON.parse(result.out) as Record<string, unknown>
  }

  async function issue(...words: string[]): Promise<IssuedKey> {
    const { id, secret } = await run('key', 'issue', 'acme', '--name', 'test', ...words)
    return { id: String(id), secret: String(secret) }
  }

  await run('org', 'create', 'acme')
  await run('target', 'set', 'acme', 'echo', '--upstream', upstream.url, ...(options.target ?? []))
  const xApiKey = await issue()
  const bearer = await issue('--scheme', 'bearer')
  const closing = opened.move()

  return {
    product,
    upstream,
    xApiKey,
    bearer,
    run,
    issue,
    call: async (path, key, init = {}) => {
      const headers = new Headers(init.headers)
      if (key !== undefined) headers.set(...credential(key))
      return await fetch(`http://127.0.0.1:${product.port}${prefix}${path}`, {
        redirect: 'manual',
        ...init,
        headers,
      })
    },
    raw: async (text, rawOptions) =>
      await exchangeRaw(
        product.port,
        text
          .replaceAll('{key}', `X-API-Key: ${xApiKey.secret}`)
          .replaceAll('{prefix}', `${prefix}/echo`),
        rawOptions,
      ),
    [Symbol.asyncDispose]: async () => await closing.disposeAsync(),
  }
}

export function credential(key: IssuedKey): [name: string, value: string] {
  return key.secret.startsWith('svc_live_')
    ? ['X-API-Key', key.secret]
    : ['Authorization', `Bearer ${key.secret}`]
}

/** Waits until a condition holds; throws if that takes longer than `withinMs`. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  withinMs = 20_000,
): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!(await holds())) {
    if (performance.now() > deadline)
      throw new Error(`not within ${withinMs} ms: ${holds.toString()}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
