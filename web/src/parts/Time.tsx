import { useEffect, useRef, useState, type MouseEvent } from 'react'
import { words } from '../../words/en.ts'
import { language } from '../../words/locale.ts'
import { copyLabel, copyText, type Outcome } from './copy-text.ts'
import classes from './time.module.css'
import { formatIn } from './zone.ts'

const clockParts = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const
const dayParts = { month: 'short', day: '2-digit' } as const
const forms = {
  exact: { year: 'numeric', ...dayParts, ...clockParts },
  short: { ...dayParts, ...clockParts },
  clock: clockParts,
  day: { year: 'numeric', ...dayParts },
} satisfies Record<string, Intl.DateTimeFormatOptions>
const relativeFormat = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
const steps = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** Converts an API time (ISO 8601) to milliseconds since 1970; a number is returned unchanged. */
export function millis(at: number | string): number {
  return typeof at === 'string' ? Date.parse(at) : at
}

/** Formats a time relative to now: "6 minutes ago", "in 3 days", "now". */
export function relative(at: number | string, now: number = Date.now()): string {
  const distance = millis(at) - now
  for (const [unit, ms] of steps) {
    if (Math.abs(distance) >= ms) return relativeFormat.format(Math.round(distance / ms), unit)
  }
  return words.now
}

/** The exact time in the chosen zone, to the second; with `clock`, only the time of day. */
export function exact(at: number | string, clock = false): string {
  return shownAs(millis(at), clock ? 'clock' : 'exact')
}

/** The time as rows of a list show it: with the day unless it is today. */
export function inRow(at: number | string): string {
  return shownAs(millis(at), 'row')
}

export function day(at: number | string): string {
  return shownAs(millis(at), 'day')
}

/** Hovering also shows the relative or the exact time, and the time in UTC. */
export function Time({
  at,
  form = 'exact',
}: {
  readonly at: number | string | undefined
  readonly form?: 'exact' | 'clock' | 'relative' | 'day' | 'row'
}) {
  if (at === undefined) return <span className="muted">{words.never}</span>
  const ms = millis(at)
  const shown = shownAs(ms, form)
  return (
    <time
      className={classes.time}
      dateTime={new Date(ms).toISOString()}
      data-time={ms}
      data-form={form}
      tabIndex={form === 'relative' ? 0 : undefined}
    >
      {shown}
    </time>
  )
}

function shownAs(ms: number, form: 'exact' | 'clock' | 'relative' | 'day' | 'row'): string {
  if (form === 'relative') return relative(ms)
  // A row shows the date too, unless it is today's.
  const kind = form === 'row' ? (isToday(ms) ? 'clock' : 'short') : form
  return formatIn(kind, forms[kind]).format(ms)
}

function isToday(ms: number): boolean {
  return shownAs(ms, 'day') === shownAs(Date.now(), 'day')
}

interface Tip {
  readonly ms: number
  readonly form: string
  readonly left: number
  readonly top: number
}

/** One shared tooltip for all times on the page. */
export function TimeTips() {
  const [tip, setTip] = useState<Tip>()
  const [outcome, setOutcome] = useState<Outcome>('idle')
  const inUtc = useRef<HTMLElement>(null)
  useEffect(() => {
    let pointedAt: Element | null = null
    function show(event: Event) {
      const node =
        event.target instanceof Element ? event.target.closest<HTMLElement>('[data-time]') : null
      // A click on a time moves the focus to something around it, which must not hide the tooltip.
      const isAround = event.target instanceof Element && event.target.contains(pointedAt)
      if (event.type === 'focusin' && node === null && isAround) return
      pointedAt = node
      if (node === null) return setTip(undefined)
      const box = node.getBoundingClientRect()
      setOutcome('idle')
      setTip({
        ms: Number(node.dataset['time']),
        form: node.dataset['form'] ?? '',
        left: Math.min(box.left, window.innerWidth - 290),
        top: box.bottom + 6,
      })
    }
    function hide(event: Event) {
      if (event instanceof KeyboardEvent && event.key !== 'Escape') return
      setTip(undefined)
    }
    document.addEventListener('pointerover', show)
    document.addEventListener('focusin', show)
    document.addEventListener('keydown', hide)
    window.addEventListener('scroll', hide, true)
    document.addEventListener('click', copy)
    function copy(event: globalThis.MouseEvent | MouseEvent) {
      const node =
        event.target instanceof Element
          ? event.target.closest<HTMLElement>('time[data-time]')
          : null
      if (node === null) return
      const text = new Date(Number(node.dataset['time'])).toISOString()
      void copyText(text, inUtc.current ?? node).then((copied) =>
        setOutcome(copied ? 'copied' : 'selected'),
      )
    }
    return () => {
      document.removeEventListener('pointerover', show)
      document.removeEventListener('focusin', show)
      document.removeEventListener('keydown', hide)
      window.removeEventListener('scroll', hide, true)
      document.removeEventListener('click', copy)
    }
  }, [])
  if (tip === undefined || Number.isNaN(tip.ms)) return undefined
  return (
    <div className={classes.tip} style={{ left: tip.left, top: tip.top }} aria-hidden="true">
      <span>{tip.form === 'relative' ? exact(tip.ms) : relative(tip.ms)}</span>
      <code ref={inUtc}>{new Date(tip.ms).toISOString()}</code>
      <span className="muted">{copyLabel(outcome, words.clickCopiesTime)}</span>
    </div>
  )
}
