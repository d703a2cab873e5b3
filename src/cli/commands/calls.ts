import { setTimeout } from 'node:timers/promises'
import {
  callData,
  callFlags,
  callHeadings,
  callRow,
  parseCallQuery,
  type CallFlags,
  type CallList,
  type NamedCall,
} from '../lib/call-query.ts'
import { command, readWhole, type Say } from '../lib/command.ts'
import { callsOf, organizationsOf } from '../lib/nouns.ts'
import { withServices } from '../lib/services.ts'
import { maxListed, renderTable } from '../lib/table.ts'
import { printableInLine, type Terminal } from '../lib/terminal.ts'

const everyMs = 1000
/**
 * How far back each read of `tail --follow` looks, because a call is listed under the time at which it began, but only
 * after it has ended. A call that takes longer than this is not printed if it ends while following.
 */
const lookBackMs = 5000

export const commands = {
  list: command({
    usage: '<org> [--target SLUG] [--key KEY-ID] [--status 4xx] [--since 24h] [--limit 50] …',
    about: 'list calls, newest first',
    options: {
      ...callFlags,
      limit: { type: 'string', default: '50', value: 'N', about: 'how many, up to 1000' },
    },
    examples: [
      'intercept calls list acme --status 4xx --since 24h',
      'intercept calls list acme --target payments --path /v1/charges --json',
    ],
    run: async ({ values, positionals: [slug = ''] }, terminal) => {
      const limit = readWhole('--limit', values.limit, { max: maxListed })
      return await withCalls(terminal, { slug, flags: values }, async (list) =>
        answerOf(await list({ limit })),
      )
    },
  }),
  tail: command({
    usage: '<org> [--follow] [--lines 10] [--target SLUG] [--status 4xx] …',
    about:
      'show the newest calls, the last one at the end; with --follow also the next ones as they end, if they take less than five seconds',
    options: {
      ...callFlags,
      follow: { type: 'boolean', about: 'go on until Ctrl+C' },
      lines: {
        type: 'string',
        default: '10',
        value: 'N',
        about: 'how many to begin with, up to 1000',
      },
    },
    examples: [
      'intercept calls tail acme --follow',
      'intercept calls tail acme --follow --status 5xx',
    ],
    run: async ({ values, positionals: [slug = ''] }, terminal, say) => {
      const limit = readWhole('--lines', values.lines, { max: maxListed, min: 0 })
      return await withCalls(terminal, { slug, flags: values }, async (list, nowMs) => {
        const startedAt = nowMs()
        const first = limit === 0 ? [] : (await list({ limit })).toReversed()
        if (values.follow !== true) return answerOf(first)
        for (const call of first) say(lineOf(call))
        const seen = new Set(first.map(({ call }) => call.id as string))
        const next = async () => {
          const from = Math.max(startedAt, nowMs() - lookBackMs)
          return await list({ limit: maxListed, from })
        }
        await follow({ next, seen, say, stopped: terminal.untilStopped() })
        return undefined
      })
    },
  }),
}

async function withCalls<T>(
  terminal: Terminal,
  { slug, flags }: { readonly slug: string; readonly flags: CallFlags },
  work: (list: CallList, nowMs: () => number) => Promise<T>,
): Promise<T> {
  return await withServices(terminal, async (services) => {
    const organization = await (await organizationsOf(services)).get(slug)
    const { clock } = services
    const query = parseCallQuery(flags, clock.now())
    const list = await callsOf(services, organization.id, query)
    return await work(list, () => clock.now())
  })
}

/** Prints calls soon after they end, none of them twice, until the user stops the command. */
async function follow(tail: {
  readonly next: () => Promise<NamedCall[]>
  readonly seen: Set<string>
  readonly say: Say
  readonly stopped: Promise<void>
}): Promise<void> {
  const over = new AbortController()
  const stopped = (async () => {
    await tail.stopped
    over.abort()
  })()
  while (!over.signal.aborted) {
    const found = await tail.next()
    for (const one of found.toReversed()) {
      if (tail.seen.has(one.call.id)) continue
      tail.seen.add(one.call.id)
      tail.say(lineOf(one))
    }
    forget(tail.seen, found)
    await Promise.race([stopped, pause(everyMs, over.signal)])
  }
}

/** Waits; resolves early, without an error, when aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => undefined)
}

/** Bounds the memory: once more than `2 * maxListed` ids are remembered, keeps only those of the last read. */
function forget(seen: Set<string>, found: readonly NamedCall[]): void {
  if (seen.size <= 2 * maxListed) return
  const recent = new Set<string>(found.map(({ call }) => call.id))
  for (const id of seen) if (!recent.has(id)) seen.delete(id)
}

function lineOf(call: NamedCall) {
  return {
    data: callData(call),
    text: callRow(call).filter(Boolean).map(printableInLine).join('  '),
  }
}

function answerOf(found: readonly NamedCall[]) {
  return {
    data: found.map(callData),
    text: renderTable(callHeadings, found.map(callRow), 'No such call is kept.'),
  }
}
