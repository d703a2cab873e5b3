import { useEffect, type ReactNode } from 'react'
import { Brand } from '../parts/Line.tsx'
import { cx } from '../parts/cx.ts'
import classes from './frame.module.css'

/** A page without navigation, such as sign-in. */
export function Alone({
  title,
  lead,
  wide = false,
  children,
}: {
  readonly title: string
  readonly lead?: ReactNode
  readonly wide?: boolean
  readonly children: ReactNode
}) {
  useEffect(() => {
    document.title = `${title} · Intercept`
  }, [title])
  return (
    <div className={classes.alone}>
      <header className={classes.aloneTop}>
        <Brand />
      </header>
      <main className={cx(classes.aloneBody, wide && classes.aloneWide)}>
        <h1>{title}</h1>
        {lead === undefined ? undefined : <p className={cx('muted', classes.aloneLead)}>{lead}</p>}
        <div className={classes.aloneStack}>{children}</div>
      </main>
    </div>
  )
}
