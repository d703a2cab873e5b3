import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useLayoutEffect, useRef, useState } from 'react'
import type { BodyProps } from './DataTable.tsx'
import classes from './table.module.css'

/** A step of scrolling that moves further than this many rows is too fast to read what passes. */
const fastRows = 3

/**
 * Renders only the rows near the viewport; every row is assumed to be as tall as the first. Rows that only pass by during
 * fast scrolling are rendered with the text that names them alone, so that a slow computer can keep up.
 */
export function WindowedBody<Row>({ rows, renderRow }: BodyProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null)
  const [top, setTop] = useState(0)
  const [rowHeight, setRowHeight] = useState(() =>
    window.matchMedia('(pointer: coarse)').matches ? 44 : 36,
  )
  useLayoutEffect(() => {
    const box = body.current?.getBoundingClientRect()
    if (box !== undefined) setTop(box.top + window.scrollY)
    const drawn = body.current?.querySelector('tr[data-row]')?.getBoundingClientRect().height
    if (drawn !== undefined && drawn > 0) setRowHeight(drawn)
  }, [])
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollMargin: top,
  })
  useLayoutEffect(() => virtual.measure(), [virtual, rowHeight])
  const items = virtual.getVirtualItems()
  const scrolled = useRef({ to: 0, isFast: false, whole: new Set<number>() })
  const to = virtual.scrollOffset ?? 0
  const isFast = virtual.isScrolling && Math.abs(to - scrolled.current.to) > fastRows * rowHeight
  // A single large step is a jump, after which its rows are read; the second one in a row is fast scrolling.
  const isPassing = isFast && scrolled.current.isFast
  const isBrief = (index: number) => isPassing && !scrolled.current.whole.has(index)
  const whole = new Set(items.map(({ index }) => index).filter((index) => !isBrief(index)))
  useLayoutEffect(() => {
    scrolled.current = { to, isFast, whole }
  })
  const before = (items[0]?.start ?? top) - top
  const after = virtual.getTotalSize() - ((items.at(-1)?.end ?? top) - top)
  return (
    <tbody ref={body} style={{ ['--brief-row' as string]: `${rowHeight}px` }}>
      <Spacer height={before} />
      {items.map((item) => {
        const row = rows[item.index]
        return row === undefined ? undefined : renderRow(row, item.index, isBrief(item.index))
      })}
      <Spacer height={after} />
    </tbody>
  )
}

function Spacer({ height }: { readonly height: number }) {
  if (height <= 0) return undefined
  return <tr className={classes.spacer} style={{ height }} aria-hidden="true" />
}
