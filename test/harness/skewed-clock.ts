// Loaded before a node's own code: shifts the node's wall clock. CLOCK_OFFSET_FILE names a file that contains the shift
// in milliseconds.
import { readFileSync } from 'node:fs'

const file = process.env['CLOCK_OFFSET_FILE'] ?? ''
const lookEveryMs = 50
const RealDate = Date
let offsetMs = 0

function look(): void {
  try {
    offsetMs = Number(readFileSync(file, 'utf8')) || 0
  } catch {
    offsetMs = 0
  }
}

class SkewedDate extends RealDate {
  constructor(...values: unknown[]) {
    if (values.length === 0) super(SkewedDate.now())
    else super(...(values as [number]))
  }

  static override now(): number {
    return RealDate.now() + offsetMs
  }
}

look()
setInterval(look, lookEveryMs).unref()
globalThis.Date = SkewedDate as DateConstructor
