import { useState, type KeyboardEvent, type PointerEvent } from 'react'
import { words } from '../../../words/en.ts'
import { cx } from '../cx.ts'
import { exact, millis } from '../Time.tsx'
import { formatIn, zoneOffsetMs } from '../zone.ts'
import classes from './chart.module.css'
import {
  highest,
  labelEvery,
  niceTime,
  niceTop,
  piecesOf,
  type ChartProps,
  type Series,
} from './series.ts'
import { useWidth } from './width.ts'

const left = 52
const bottom = 22
const top = 8
const dayMs = 86_400_000
const labelWidth = 84

interface Shape {
  readonly width: number
  readonly height: number
  readonly step: number
  readonly most: number
  readonly y: (value: number) => number
  readonly x: (step: number) => number
}

/** The step under the pointer or keyboard cursor, and where a range was started. */
interface Cursor {
  readonly step: number
  readonly anchor: number | undefined
}

/** Draws the chart. Hovering and the arrow keys show values; dragging, or pressing Enter twice, selects a range. */
export function Plot(props: ChartProps) {
  const { at, height = 168, title, onPick } = props
  const [box, width] = useWidth()
  const shape = shapeOf(props, width, height)
  const { cursor, ...reading } = useReading(props, shape)
  const last = at.length - 1
  const isDrawn = width > 0 && at.length > 0
  return (
    <div ref={box} className={classes.box} style={{ minHeight: height }}>
      {isDrawn ? (
        <svg
          className={cx(classes.plot, onPick !== undefined && classes.picks)}
          height={height}
          tabIndex={0}
          role="slider"
          aria-label={onPick === undefined ? title : words.chartPicks(title)}
          aria-valuemin={0}
          aria-valuemax={last}
          aria-valuenow={cursor?.step ?? last}
          aria-valuetext={said(props, cursor?.step)}
          {...reading}
        >
          <Drawing {...props} shape={shape} />
          {cursor === undefined ? undefined : <Mark shape={shape} cursor={cursor} />}
        </svg>
      ) : undefined}
      {cursor === undefined || width === 0 ? undefined : (
        <Tip {...props} step={cursor.step} x={shape.x(cursor.step)} width={width} />
      )}
    </div>
  )
}

function shapeOf({ at, series, isTime }: ChartProps, width: number, height: number): Shape {
  const highestValue = highest(series, at.length)
  const most = isTime === true ? niceTime(highestValue) : niceTop(highestValue)
  const step = at.length === 0 ? 0 : Math.max(0, width - left) / at.length
  const scale = (height - bottom - top) / most
  return {
    ...{ width, height, step, most },
    x: (index) => left + index * step,
    y: (value) => height - bottom - value * scale,
  }
}

function useReading({ at, onPick, stepMs }: ChartProps, { step }: Shape) {
  const [cursor, setCursor] = useState<Cursor>()
  const last = at.length - 1
  const leave = () => setCursor(undefined)
  function stepAt(event: PointerEvent<SVGSVGElement>): number {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left - left
    return Math.max(0, Math.min(last, Math.floor(x / Math.max(1, step))))
  }
  function pick(one: number, other: number) {
    leave()
    const from = millis(at[Math.min(one, other)] ?? '')
    onPick?.(from, millis(at[Math.max(one, other)] ?? '') + stepMs)
  }
  function onKeyDown(event: KeyboardEvent) {
    const here = cursor?.step ?? last
    const jumps = { ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: last }
    if (event.key in jumps) {
      event.preventDefault()
      const next = Math.max(0, Math.min(last, jumps[event.key as keyof typeof jumps]))
      setCursor({ step: next, anchor: cursor?.anchor })
    } else if (event.key === 'Enter' && onPick !== undefined) {
      event.preventDefault()
      if (cursor?.anchor === undefined) setCursor({ step: here, anchor: here })
      else pick(cursor.anchor, here)
    } else if (event.key === 'Escape' && cursor !== undefined) {
      event.preventDefault()
      event.stopPropagation()
      leave()
    }
  }
  return {
    cursor,
    onKeyDown,
    onBlur: leave,
    onPointerLeave: leave,
    onPointerMove: (event: PointerEvent<SVGSVGElement>) => {
      const here = stepAt(event)
      setCursor((before) => ({ step: here, anchor: before?.anchor }))
    },
    onPointerDown: (event: PointerEvent<SVGSVGElement>) => {
      if (onPick === undefined || event.button !== 0) return
      event.currentTarget.setPointerCapture(event.pointerId)
      setCursor({ step: stepAt(event), anchor: stepAt(event) })
    },
    onPointerUp: (event: PointerEvent<SVGSVGElement>) => {
      const anchor = cursor?.anchor
      const end = stepAt(event)
      // A click alone selects no range.
      if (anchor === undefined || anchor === end) setCursor({ step: end, anchor: undefined })
      else pick(anchor, end)
    },
  }
}

function Drawing({ at, series, format, stepMs, shape }: ChartProps & { readonly shape: Shape }) {
  return (
    <>
      <Grid shape={shape} format={format} />
      <Bars shape={shape} steps={at.length} series={series} />
      {/* The first line is drawn on top, so that it hides a less important identical one. */}
      {series
        .toReversed()
        .map((one) =>
          one.kind === 'line' ? <Line key={one.id} shape={shape} series={one} /> : undefined,
        )}
      <Times shape={shape} at={at} stepMs={stepMs} />
    </>
  )
}

function Grid({
  shape,
  format,
}: {
  readonly shape: Shape
  readonly format: (n: number) => string
}) {
  return [0, shape.most / 2, shape.most].map((value) => (
    <g key={value}>
      <line
        className={classes.rule}
        x1={left}
        x2={shape.width}
        y1={shape.y(value) + 0.5}
        y2={shape.y(value) + 0.5}
      />
      <text x={left - 8} y={shape.y(value) + 4} textAnchor="end">
        {format(value)}
      </text>
    </g>
  ))
}

/** Draws one path per series, because one rectangle per bar would be slower. */
function Bars({
  shape,
  steps,
  series,
}: {
  readonly shape: Shape
  readonly steps: number
  readonly series: readonly Series[]
}) {
  const wide = Math.max(1, shape.step - (shape.step > 5 ? 2 : 1))
  const floors = Array.from({ length: steps }, () => shape.y(0))
  return series.map((one) => {
    if (one.kind !== 'bar') return undefined
    const parts: string[] = []
    for (let step = 0; step < steps; step++) {
      const value = one.values[step] ?? 0
      const floor = floors[step] ?? 0
      if (value === 0) continue
      // Any value above zero must stay visible, with a gap to the bar below.
      const tall = Math.max(one.tone === 'flow' ? 1 : 2, shape.y(0) - shape.y(value))
      const base = floor === shape.y(0) ? floor : floor - 1
      parts.push(`M${shape.x(step)} ${base}h${wide}v${-tall}h${-wide}z`)
      floors[step] = base - tall
    }
    return <path key={one.id} className={classes[`${one.tone}Fill`]} d={parts.join('')} />
  })
}

function Line({ shape, series }: { readonly shape: Shape; readonly series: Series }) {
  const x = (step: number) => shape.x(step) + shape.step / 2
  const pieces = piecesOf(series.values).map((piece) =>
    piece.map(([step, value]) => `${x(step)} ${shape.y(value)}`),
  )
  const lines = pieces.map((points) => (points.length === 1 ? '' : `M${points.join('L')}`))
  // A value without neighbors is drawn as a dot.
  const dots = pieces.map((points) => (points.length === 1 ? `M${points[0]}h0.01` : ''))
  const tone = classes[`${series.tone}Line`]
  return (
    <>
      <path className={cx(classes.line, tone)} d={lines.join('')} />
      <path className={cx(classes.line, classes.dot, tone)} d={dots.join('')} />
    </>
  )
}

function Times({
  shape,
  at,
  stepMs,
}: {
  readonly shape: Shape
  readonly at: readonly string[]
  readonly stepMs: number
}) {
  const every = labelEvery(stepMs, Math.ceil(labelWidth / Math.max(1, shape.step)))
  const span = at.length * stepMs
  const isRound = (ms: number) => (ms + zoneOffsetMs(ms)) % every < stepMs
  return at.map((time, step) =>
    isRound(millis(time)) && shape.x(step) < shape.width - labelWidth / 2 ? (
      <text key={time} x={shape.x(step)} y={shape.height - 4}>
        {axisTime(time, every, span)}
      </text>
    ) : undefined,
  )
}

function Mark({ shape, cursor }: { readonly shape: Shape; readonly cursor: Cursor }) {
  const from = Math.min(cursor.step, cursor.anchor ?? cursor.step)
  const to = Math.max(cursor.step, cursor.anchor ?? cursor.step) + 1
  return (
    <rect
      className={cursor.anchor === undefined ? classes.cursor : classes.chosen}
      x={shape.x(from)}
      width={(to - from) * shape.step}
      y={top}
      height={shape.height - bottom - top}
    />
  )
}

function Tip({
  at,
  series,
  format,
  step,
  x,
  width,
}: ChartProps & { readonly step: number; readonly x: number; readonly width: number }) {
  return (
    <div
      className={classes.tip}
      aria-hidden="true"
      style={x > width / 2 ? { right: width - x + 8 } : { left: x + 20 }}
    >
      <strong>{exact(at[step] ?? 0)}</strong>
      {series.map((one) => (
        <span key={one.id}>
          <i className={classes[one.tone]} /> {one.label}
          <b>{one.values[step] === undefined ? '–' : format(one.values[step])}</b>
        </span>
      ))}
    </div>
  )
}

function said({ at, series, format }: ChartProps, step = at.length - 1): string {
  const values = series.map(
    (one) => `${one.label} ${one.values[step] === undefined ? '–' : format(one.values[step])}`,
  )
  return `${exact(at[step] ?? 0)}: ${values.join(', ')}`
}

function axisTime(at: string, every: number, span: number): string {
  const day = { day: '2-digit', month: 'short' } as const
  const clock = { hour: '2-digit', minute: '2-digit' } as const
  if (every >= dayMs) return formatIn('axis-day', day).format(millis(at))
  return span > dayMs
    ? formatIn('axis-both', { ...day, ...clock }).format(millis(at))
    : formatIn('axis-clock', clock).format(millis(at))
}
