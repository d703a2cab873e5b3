import { Link } from '@tanstack/react-router'
import { words } from '../../words/en.ts'
import { stations } from '../api/calls.ts'
import { cx } from './cx.ts'
import classes from './line.module.css'
import { count } from './numbers.ts'
import type { RangeSearch } from './range.ts'

export type Station = (typeof stations)[number]

/** Draws a call's checks as a line 72 px wide, followed by the check that stopped the call, or by how it ended. */
export function MiniLine({
  stoppedAt,
  failed = false,
}: {
  readonly stoppedAt: Station | undefined
  /** Whether the upstream failed, as opposed to our refusing the call. */
  readonly failed?: boolean
}) {
  const last = failed ? stations.length - 1 : stations.length
  const end = stoppedAt === undefined ? last : stations.indexOf(stoppedAt)
  return (
    <span className={classes.miniWord}>
      <svg className={classes.mini} viewBox="0 0 72 12" aria-hidden="true">
        <path className={classes.rest} d={dashes(end, stations.length)} />
        <path d={dashes(0, end)} />
        {end === stations.length ? undefined : failed ? (
          <circle className={classes.fault} cx={middleOf(end)} cy="6" r="4.5" />
        ) : (
          <rect className={classes.stop} x={middleOf(end) - 3.5} y="0.5" width="7" height="11" />
        )}
      </svg>
      <span className={stoppedAt === undefined && !failed ? 'muted' : undefined}>
        {failed
          ? words.upstreamError
          : stoppedAt === undefined
            ? words.forwarded
            : words.stations[stoppedAt]}
      </span>
    </span>
  )
}

/** The width of a check's dash and the gap of 2 px after it; the last gap lies outside the 72 px. */
const stationPx = 74 / stations.length

function middleOf(station: number): number {
  return station * stationPx + (stationPx - 2) / 2
}

/** Draws the dashes of several checks as one path, because a list has hundreds of lines. */
function dashes(from: number, to: number): string {
  let path = ''
  for (let station = from; station < to; station++) {
    path += `M${station * stationPx} 4.5h${stationPx - 2}v3h${2 - stationPx}z`
  }
  return path
}

/** With `waiting`, a lamp shows that the first call has not arrived yet. */
export function FullLine({
  stoppedAt,
  waiting = false,
}: {
  readonly stoppedAt: Station | undefined
  readonly waiting?: boolean
}) {
  const end = stoppedAt === undefined ? stations.length : stations.indexOf(stoppedAt)
  return (
    <ol className={classes.full} aria-label={words.checks}>
      {stations.map((station, index) => {
        const state = waiting
          ? index === 0
            ? 'waits'
            : 'ahead'
          : index < end
            ? 'passed'
            : index === end
              ? 'stopped'
              : 'ahead'
        const look = {
          waits: cx(classes.waiting),
          passed: classes.lit,
          stopped: classes.stopped,
          ahead: classes.ahead,
        }[state]
        return (
          <li key={station} className={cx(classes.station, look)}>
            <span className={classes.dot} aria-hidden="true" />
            <span>
              {words.stations[station]}
              <span className="visually-hidden">: {words.stationStates[state]}</span>
            </span>
          </li>
        )
      })}
    </ol>
  )
}

/** A bar's height grows with the square root of the number, so that ten refusals are visible next to ten thousand. */
export function SumLine({
  organization,
  refused,
  answered,
  range,
}: {
  readonly organization: string
  readonly refused: Readonly<Partial<Record<Station, number>>>
  readonly answered: number
  readonly range: RangeSearch
}) {
  const most = Math.max(1, ...stations.map((station) => refused[station] ?? 0))
  return (
    <ol className={classes.sum} aria-label={words.whereCallsStop}>
      {stations.map((station) => {
        const number = refused[station] ?? 0
        const part = Math.sqrt(number / most)
        return (
          <li key={station}>
            {number === 0 ? (
              <span className={classes.sumPlain}>
                <span className={classes.sumName}>{words.stations[station]}</span>
                <span className={cx(classes.sumNumber, classes.sumNone)}>{words.none}</span>
              </span>
            ) : (
              <Link
                to="/o/$organization/calls"
                params={{ organization }}
                search={{ ...range, stopped_at: station }}
              >
                <span className={classes.sumName}>{words.stations[station]}</span>
                <span className={classes.sumNumber}>{count(number)}</span>
              </Link>
            )}
            <span className={classes.bar} aria-hidden="true">
              {number === 0 ? undefined : (
                <i
                  style={{
                    height: `${Math.round(part * 64)}px`,
                    ['--part' as string]: `${Math.round(part * 100)}%`,
                  }}
                />
              )}
            </span>
          </li>
        )
      })}
      <li>
        <span className={classes.sumPlain}>
          <span className={classes.sumName}>{words.passedAll}</span>
          <span className={classes.sumNumber}>{count(answered)}</span>
        </span>
        <span className={classes.bar} aria-hidden="true">
          <b />
        </span>
      </li>
    </ol>
  )
}

/** The logo: the line of checks, with one of them lit. */
export function Brand() {
  return (
    <span className={classes.brand}>
      <svg width="26" height="16" viewBox="0 0 26 16" aria-hidden="true" focusable="false">
        <path d="M1 8h24" stroke="var(--accent)" strokeWidth="3" strokeLinecap="round" />
        <circle
          cx="15"
          cy="8"
          r="5.2"
          fill="var(--lamp)"
          stroke="var(--lamp-edge)"
          strokeWidth="2"
        />
      </svg>
      Intercept
    </span>
  )
}
