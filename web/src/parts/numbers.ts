import { language } from '../../words/locale.ts'

const counter = new Intl.NumberFormat(language)
const compact = new Intl.NumberFormat(language, {
  notation: 'compact',
  maximumFractionDigits: 1,
})
const percents = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 })
const bytesPerStep = 1024

/** Formats a number with separators: 12,480. */
export function count(number: number): string {
  return counter.format(number)
}

/** Formats a number briefly, for axes: 12.5K. */
export function short(number: number): string {
  return compact.format(number)
}

/** Formats a part of a whole as a percentage such as 8.4%; 0% if the whole is zero. */
export function percent(part: number, whole: number): string {
  return percents.format(whole === 0 ? 0 : part / whole)
}

/** Formats a duration: 65 ms, 1.8 s, 4 min. */
export function duration(ms: number): string {
  if (ms > 0 && ms < 0.5) return '< 1 ms'
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${counter.format(Math.round(ms / 100) / 10)} s`
  return `${counter.format(Math.round(ms / 60_000))} min`
}

/** Formats a size in binary units: 512 bytes, 8.1 KiB, 3 MiB. */
export function size(bytes: number): string {
  if (bytes < bytesPerStep) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`
  const step = Math.min(3, Math.floor(Math.log2(bytes) / 10))
  return `${counter.format(Math.round((bytes / bytesPerStep ** step) * 10) / 10)} ${['', 'KiB', 'MiB', 'GiB'][step]}`
}

/** Formats seconds in the largest whole unit: "30 days", "36 hours". */
export function span(seconds: number): string {
  const [unit, each] = units.find(([, each]) => seconds % each === 0) ?? ['second', 1]
  const style = { style: 'unit', unit, unitDisplay: 'long' } as const
  return new Intl.NumberFormat(language, style).format(seconds / each)
}

const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const
