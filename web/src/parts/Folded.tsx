import type { ReactNode } from 'react'
import classes from './surface.module.css'

/** Hides content that most people don't need until they click its title. */
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
