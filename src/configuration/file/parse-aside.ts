import { Worker } from 'node:worker_threads'
import { Problem } from '../../errors.ts'
import { startYielding } from '../../thread-priority.ts'
import type { ParsedFile } from './parse.ts'

/** The limits for parsing one file. */
export interface ReadingBounds {
  readonly withinMs: number
  readonly megabytes: number
}

/** A crafted text of 4 MiB can take a minute and 4 GB, while a file that people write takes about a second. */
const usualBounds: ReadingBounds = { withinMs: 15_000, megabytes: 384 }
/**
 * How much the niceness of the thread rises. It gets a quarter of a core that calls want too, so that even then a file that
 * takes a second is read long before the deadline.
 */
const niceness = 5
const maxWaiting = 8
/** Files of up to this many characters don't wait for larger ones. */
const smallLength = 64 * 1024

/** Parses one file after another, and refuses a file while eight others wait or are being parsed. */
class Lane {
  #waiting = 0
  #last: Promise<unknown> = Promise.resolve()

  async read(text: string, bounds: ReadingBounds): Promise<ParsedFile> {
    if (this.#waiting >= maxWaiting) throw busy()
    this.#waiting += 1
    const reading = this.#last.then(async () => await onThread(text, bounds))
    this.#last = reading.catch(() => undefined)
    try {
      return await reading
    } finally {
      this.#waiting -= 1
    }
  }
}

const lanes = { small: new Lane(), large: new Lane() }

/** Parses a file on a thread with limits on time and memory, so that this process keeps serving. */
export async function parseAside(text: string, bounds = usualBounds): Promise<ParsedFile> {
  return await lanes[text.length <= smallLength ? 'small' : 'large'].read(text, bounds)
}

async function onThread(text: string, bounds: ReadingBounds): Promise<ParsedFile> {
  const { promise, resolve, reject } = Promise.withResolvers<ParsedFile>()
  const file = new URL('./parse-thread.ts', import.meta.url)
  const options = {
    workerData: { configurationText: text, niceness },
    resourceLimits: { maxOldGenerationSizeMb: bounds.megabytes },
  }
  const worker = startYielding(niceness, () => new Worker(file, options))
  const deadline = setTimeout(() => void worker.terminate(), bounds.withinMs)
  worker.once('message', resolve)
  worker.once('error', (error) => reject(isOutOfMemory(error) ? tooMuch() : error))
  worker.once('exit', () => reject(tooMuch()))
  try {
    return await promise
  } finally {
    clearTimeout(deadline)
    await worker.terminate()
  }
}

function isOutOfMemory(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY'
}

function tooMuch(): Problem {
  return new Problem(
    'invalid_input',
    'Reading the file takes more time or memory than a file may take. Make it simpler or smaller.',
  )
}

function busy(): Problem {
  return new Problem('rate_limited', 'Other files are being read. Send this one again shortly.', {
    headers: { 'Retry-After': '5' },
  })
}
