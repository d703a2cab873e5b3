import { useWindowVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import { useLayoutEffect, useRef, useState } from 'react'
import type { BodyProps } from './DataTable.tsx'
import classes from './table.module.css'

/** Scrolling by more than this many rows at once is too fast to read them; a notch of a mouse wheel is less. */
const fastRows = 4

/**
 * Renders only the rows near the viewport; every row is assumed to be as tall as the first. Rows that come into view
 * during fast scrolling show only their `brief` text, so that a slow computer can keep up.
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
  const isBrief = usePassing(virtual, rowHeight)
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

/** Returns a function that tells whether a row came into view during fast scrolling, and so is shown in brief. */
function usePassing(
  virtual: Virtualizer<Window, Element>,
  rowHeight: number,
): (index: number) => boolean {
  const last = useRef({ to: 0, isFast: false, isPassing: false, whole: new Set<number>() }).current
  const to = virtual.scrollOffset ?? 0
  const step = Math.abs(to - last.to)
  const isFast = virtual.isScrolling && step > fastRows * rowHeight
  // A single large step, such as a page down, is not fast scrolling: the person then reads the rows.
  const isJump = step > window.innerHeight / 2 && !last.isFast
  // If the list renders again during scrolling without having moved, the previous answer still holds.
  const isPassing = virtual.isScrolling && step === 0 ? last.isPassing : isFast && !isJump
  const isBrief = (index: number) => isPassing && !last.whole.has(index)
  const items = virtual.getVirtualItems()
  useLayoutEffect(() => {
    const whole = new Set(items.map(({ index }) => index).filter((index) => !isBrief(index)))
    Object.assign(last, { to, isFast: step === 0 ? last.isFast : isFast, isPassing, whole })
  })
  return isBrief
}

function Spacer({ height }: { readonly height: number }) {
  if (height <= 0) return undefined
  return <tr className={classes.spacer} style={{ height }} aria-hidden="true" />
}
