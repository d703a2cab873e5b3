import { useLayoutEffect, useRef, useState } from 'react'
import { words } from '../../words/en.ts'
import { Button } from './Button.tsx'
import classes from './chart.module.css'
import { count, short } from './numbers.ts'
import { exact, millis, zone } from './Time.tsx'

export interface Bar {
  readonly at: string
  readonly passed: number
  readonly refused: number
}

const left = 40
const bottom = 20
const top = 8

/** Calls over time, refusals on top in red, with the same numbers as a table. */
export function Bars({
  bars,
  height = 168,
  title,
  stepMs,
}: {
  readonly bars: readonly Bar[]
  readonly height?: number
  readonly title: string
  readonly stepMs: number
}) {
  const [asTable, setAsTable] = useState(false)
  return (
    <figure className="stack-tight">
      <figcaption className="row between">
        <span className={classes.legend}>
          <span>
            {title} ({zone})
          </span>
          <span>
            <i /> {words.passed}
          </span>
          <span>
            <i className={classes.refused} /> {words.refusedHere}
          </span>
        </span>
        <Button small look="quiet" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
          {asTable ? words.showChart : words.showTable}
        </Button>
      </figcaption>
      {asTable ? (
        <Twin bars={bars} />
      ) : (
        <Plot bars={bars} height={height} title={title} stepMs={stepMs} />
      )}
    </figure>
  )
}

function Plot({
  bars,
  height,
  title,
  stepMs,
}: {
  readonly bars: readonly Bar[]
  readonly height: number
  readonly title: string
  readonly stepMs: number
}) {
  const box = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const node = box.current
    if (node === null) return undefined
    const observer = new ResizeObserver(([entry]) =>
      setWidth(Math.floor(entry?.contentRect.width ?? 0)),
    )
    observer.observe(node)
    return () => observer.disconnect()
  }, [])
  const most = niceTop(Math.max(1, ...bars.map((bar) => bar.passed + bar.refused)))
  const inner = Math.max(0, width - left)
  const step = bars.length === 0 ? 0 : inner / bars.length
  const scale = (height - bottom - top) / most
  const every = Math.max(1, Math.ceil(76 / Math.max(1, step)))
  return (
    <div ref={box} style={{ minHeight: height }}>
      {width === 0 ? undefined : (
        <svg
          className={classes.plot}
          height={height}
          role="img"
          aria-label={words.chartSays(title, sum(bars, 'passed'), sum(bars, 'refused'))}
        >
          {[0, most / 2, most].map((value) => (
            <g key={value}>
              <line
                className={classes.rule}
                x1={left}
                x2={width}
                y1={height - bottom - value * scale + 0.5}
                y2={height - bottom - value * scale + 0.5}
              />
              <text x={left - 8} y={height - bottom - value * scale + 4} textAnchor="end">
                {short(value)}
              </text>
            </g>
          ))}
          {bars.map((bar, index) => {
            const x = left + index * step
            const wide = Math.max(1, step - (step > 5 ? 2 : 1))
            const passed = bar.passed * scale
            const refused = bar.refused === 0 ? 0 : Math.max(2, bar.refused * scale)
            const floor = height - bottom
            return (
              <g key={bar.at}>
                <rect
                  className={classes.passed}
                  x={x}
                  width={wide}
                  y={floor - passed}
                  height={passed}
                />
                <rect
                  className={classes.refusedBar}
                  x={x}
                  width={wide}
                  y={floor - passed - refused - (passed > 0 ? 1 : 0)}
                  height={refused}
                />
                <rect className={classes.hit} x={x} width={step} y={top} height={floor - top}>
                  <title>{`${exact(bar.at)}\n${count(bar.passed)} ${words.passed}\n${count(bar.refused)} ${words.refusedHere}`}</title>
                </rect>
                {index % every === 0 && x < width - 40 ? (
                  <text x={x} y={height - 4}>
                    {axisLabel(bar.at, stepMs)}
                  </text>
                ) : undefined}
              </g>
            )
          })}
        </svg>
      )}
    </div>
  )
}

function Twin({ bars }: { readonly bars: readonly Bar[] }) {
  return (
    <div className={classes.twin} tabIndex={0} role="region" aria-label={words.numbersOfChart}>
      <table>
        <thead>
          <tr>
            <th scope="col">{words.time}</th>
            <th scope="col">{words.passed}</th>
            <th scope="col">{words.refusedHere}</th>
          </tr>
        </thead>
        <tbody>
          {bars.map((bar) => (
            <tr key={bar.at}>
              <td>{exact(bar.at)}</td>
              <td>{count(bar.passed)}</td>
              <td>{count(bar.refused)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Parts of a whole in one thin line, such as the deliveries of an endpoint. */
export function StackBar({
  label,
  parts,
}: {
  readonly label: string
  readonly parts: readonly { readonly number: number; readonly tone: 'flow' | 'bad' | 'waits' }[]
}) {
  return (
    <span className={classes.stackBar} role="img" aria-label={label} title={label}>
      {parts.map((part) =>
        part.number === 0 ? undefined : (
          <i
            key={part.tone}
            className={part.tone === 'flow' ? undefined : classes[part.tone]}
            style={{ flexGrow: part.number }}
          />
        ),
      )}
    </span>
  )
}

function sum(bars: readonly Bar[], name: 'passed' | 'refused'): number {
  return bars.reduce((total, bar) => total + bar[name], 0)
}

function niceTop(value: number): number {
  // Calls come whole: a half on the axis would be nonsense.
  if (value <= 10) return value + (value % 2)
  const power = 10 ** Math.floor(Math.log10(value))
  for (const step of [1, 2, 3, 4, 5, 6, 8, 10])
    if (value <= step * power) return Math.max(2, step * power)
  return value
}

function axisLabel(at: string, stepMs: number): string {
  const format: Intl.DateTimeFormatOptions =
    stepMs >= 86_400_000
      ? { day: '2-digit', month: 'short' }
      : { hour: '2-digit', minute: '2-digit' }
  return new Intl.DateTimeFormat('en-GB', format).format(millis(at))
}
