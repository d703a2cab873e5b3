import { lazy, Suspense } from 'react'
import type { BodyProps } from './DataTable.tsx'
import { whole } from './upgrade.ts'

/** A list of up to this many rows is rendered completely, and its rows may differ in height. */
const drawnWhole = 60

// Most lists are short, so the code for long ones is loaded only when one is shown.
const Windowed = lazy(async () => ({
  default: (await whole(async () => await import('./WindowedBody.tsx'))())
    .WindowedBody as typeof Plain,
}))

/** The body of a list: if it is long, only the rows near the viewport are rendered; the page itself scrolls. */
export function VirtualBody<Row>(body: BodyProps<Row>) {
  if (body.rows.length <= drawnWhole) return <Plain {...(body as BodyProps<unknown>)} />
  const first = { ...body, rows: body.rows.slice(0, drawnWhole) }
  return (
    <Suspense fallback={<Plain {...(first as BodyProps<unknown>)} />}>
      <Windowed {...(body as BodyProps<unknown>)} />
    </Suspense>
  )
}

function Plain({ rows, renderRow }: BodyProps<unknown>) {
  return <tbody>{rows.map((row, index) => renderRow(row, index))}</tbody>
}
