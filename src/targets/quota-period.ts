import type { Quota } from '../access/index.ts'

/** When the calendar day or month (UTC) of a time began. */
export function periodStart(period: Quota['period'], nowMs: number): number {
  const now = new Date(nowMs)
  const day = period === 'day' ? now.getUTCDate() : 1
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), day)
}

/** When the next calendar day or month (UTC) begins. */
export function periodEnd(period: Quota['period'], nowMs: number): number {
  const now = new Date(nowMs)
  return period === 'day'
    ? Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1)
    : Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)
}
