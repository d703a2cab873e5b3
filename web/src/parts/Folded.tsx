import type { ReactNode } from 'react'
import classes from './surface.module.css'

/** Content that most people don't need; unless `open` is set, only its title is shown at first. */
export function Folded({
  title,
  children,
  open = false,
}: {
  readonly title: string
  readonly children: ReactNode
  readonly open?: boolean
}) {
  return (
    <details className={classes.folded} open={open}>
      <summary>{title}</summary>
      <div className="stack">{children}</div>
    </details>
  )
}
