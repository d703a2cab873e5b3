import { useState, type ReactNode } from 'react'
import { words } from '../../../words/en.ts'
import { Button } from '../Button.tsx'
import { cx } from '../cx.ts'
import { exact } from '../Time.tsx'
import { zoneName } from '../zone.ts'
import classes from './chart.module.css'
import { Plot } from './Plot.tsx'
import type { ChartProps } from './series.ts'

/** Shows values over time as bars and lines, or the same numbers as a table. */
export function TimeChart(props: ChartProps & { readonly actions?: ReactNode }) {
  const { title, series, actions } = props
  const [asTable, setAsTable] = useState(false)
  return (
    <figure className={classes.figure}>
      <figcaption className={classes.caption}>
        <span className={classes.legend}>
          <span>
            {title} ({zoneName()})
          </span>
          {series.map((one) => (
            <span key={one.id}>
              <i className={cx(classes[one.tone], one.kind === 'line' && classes.dash)} />{' '}
              {one.label}
            </span>
          ))}
        </span>
        <span className="row">
          {actions}
          <Button small look="quiet" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
            {asTable ? words.showChart : words.showTable}
          </Button>
        </span>
      </figcaption>
      {asTable ? <Twin {...props} /> : <Plot {...props} />}
    </figure>
  )
}

function Twin({ at, series, format }: ChartProps) {
  return (
    <div className={classes.twin} tabIndex={0} role="region" aria-label={words.numbersOfChart}>
      <table>
        <thead>
          <tr>
            <th scope="col">{words.time}</th>
            {series.map((one) => (
              <th key={one.id} scope="col">
                {one.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {at.map((time, step) => (
            <tr key={time}>
              <td>{exact(time)}</td>
              {series.map((one) => (
                <td key={one.id}>{shown(one.values[step], format)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function shown(value: number | undefined, format: (value: number) => string): string {
  return value === undefined ? '–' : format(value)
}
