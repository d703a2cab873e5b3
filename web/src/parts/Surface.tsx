import { useEffect, type ReactNode } from 'react'
import classes from './surface.module.css'
import { cx } from './cx.ts'

/** The heading of a page; also sets the title of the browser tab. */
export function PageHead({
  title,
  lead,
  back,
  children,
}: {
  readonly title: string
  readonly lead?: ReactNode
  readonly back?: ReactNode
  readonly children?: ReactNode
}) {
  useEffect(() => {
    document.title = `${title} · Intercept`
  }, [title])
  return (
    <div className={classes.head}>
      <div>
        {back === undefined ? undefined : <div className={classes.back}>{back}</div>}
        <h1 className="break">{title}</h1>
        {lead === undefined ? undefined : <div className={classes.lead}>{lead}</div>}
      </div>
      {children === undefined ? undefined : <div className="row">{children}</div>}
    </div>
  )
}

/** `flush` lets a table or list extend to the card's edges. */
export function Card({
  title,
  lead,
  actions,
  flush = false,
  children,
  label,
}: {
  readonly title?: ReactNode
  readonly lead?: ReactNode
  readonly actions?: ReactNode
  readonly flush?: boolean
  readonly children?: ReactNode
  readonly label?: string
}) {
  return (
    <section className={classes.card} {...(label === undefined ? {} : { 'aria-label': label })}>
      {title === undefined ? undefined : (
        <div className={classes.cardHead}>
          <h2>{title}</h2>
          {actions === undefined ? undefined : <div className="row">{actions}</div>}
          {lead === undefined ? undefined : <p className={classes.cardLead}>{lead}</p>}
        </div>
      )}
      {children === undefined ? undefined : (
        <div className={flush ? cx(title !== undefined && classes.flush) : classes.cardBody}>
          {children}
        </div>
      )}
    </section>
  )
}

/** Places cards side by side if there is room. */
export function Columns({ children }: { readonly children: ReactNode }) {
  return <div className={classes.grid2}>{children}</div>
}

export function Pile({ children }: { readonly children: ReactNode }) {
  return <div className={classes.pages}>{children}</div>
}

export type Tone = 'plain' | 'pass' | 'refuse' | 'caution'

/** A state in one word, which is shown by shape as well as by color. */
export function Badge({
  tone = 'plain',
  children,
}: {
  readonly tone?: Tone
  readonly children: ReactNode
}) {
  return <span className={cx(classes.badge, tone !== 'plain' && classes[tone])}>{children}</span>
}

/** An unobtrusive word next to a name, such as a role, a plan or a scheme. */
export function Tag({ children }: { readonly children: ReactNode }) {
  return <span className={cx(classes.badge, classes.tag)}>{children}</span>
}

/** A list of names with their values; undefined values are left out. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className={classes.facts}>
      {facts.map(([name, value]) =>
        value === undefined ? undefined : (
          <FactRow key={name} name={name}>
            {value}
          </FactRow>
        ),
      )}
    </dl>
  )
}

function FactRow({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}

export function Notice({
  tone = 'plain',
  title,
  children,
  live = false,
}: {
  readonly tone?: Tone
  readonly title?: ReactNode
  readonly children?: ReactNode
  readonly live?: boolean
}) {
  const edge = {
    plain: undefined,
    pass: classes.noticePass,
    refuse: classes.noticeRefuse,
    caution: classes.noticeCaution,
  }[tone]
  return (
    <div className={cx(classes.notice, edge)} {...(live ? { role: 'status' } : {})}>
      {title === undefined ? undefined : <p className={classes.noticeHead}>{title}</p>}
      {children}
    </div>
  )
}

export function Items({ children }: { readonly children: ReactNode }) {
  return <ul className={classes.items}>{children}</ul>
}

export function Item({
  mark,
  children,
  action,
}: {
  readonly mark?: 'waits' | 'refuse' | 'done' | 'open'
  readonly children: ReactNode
  readonly action?: ReactNode
}) {
  const shape = {
    waits: '',
    refuse: classes.markRefuse,
    done: classes.markDone,
    open: classes.markOpen,
  }
  return (
    <li className={mark === undefined ? classes.plain : undefined}>
      {mark === undefined ? undefined : (
        <span className={cx(classes.mark, shape[mark])} aria-hidden="true" />
      )}
      <div className="break">{children}</div>
      <div className="row">{action}</div>
    </li>
  )
}
