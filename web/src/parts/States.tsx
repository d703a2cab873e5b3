import type { ReactNode } from 'react'
import { Refused } from '../api/call.ts'
import { words } from '../../words/en.ts'
import { Button } from './Button.tsx'
import { CopyText } from './Copy.tsx'
import classes from './surface.module.css'
import { Notice } from './Surface.tsx'

export function QueryState({
  query,
  padded = false,
}: {
  readonly query: {
    readonly isError: boolean
    readonly error: unknown
    readonly refetch: () => unknown
  }
  /** Whether to add padding around a refusal, for cards without padding. */
  readonly padded?: boolean
}) {
  if (!query.isError) return <Loading />
  const notice = <ProblemNotice error={query.error} retry={() => void query.refetch()} />
  return padded ? <div className="pad">{notice}</div> : notice
}

export function Loading({ what }: { readonly what?: string }) {
  return (
    <p className={classes.loading} role="status" data-loading>
      <span>{what ?? words.loading}</span>
    </p>
  )
}

export function Empty({
  title,
  children,
}: {
  readonly title: string
  readonly children?: ReactNode
}) {
  return (
    <div className={classes.empty}>
      <p className={classes.emptyHead}>{title}</p>
      {children}
    </div>
  )
}

export function NoneMatch({
  what,
  filters,
  clear,
}: {
  readonly what: string
  readonly filters: number
  readonly clear: () => void
}) {
  return (
    <div className={classes.empty} role="status">
      <p>{words.noneMatch(what, filters)}</p>
      <Button onClick={clear}>{words.clearFilters}</Button>
    </div>
  )
}

export function ProblemNotice({
  error,
  title,
  retry,
}: {
  readonly error: unknown
  readonly title?: string
  readonly retry?: () => void
}) {
  const refusal = asRefused(error)
  const known = words.problems[refusal.code]
  return (
    <div role="alert">
      <Notice tone="refuse" title={title ?? known?.title ?? words.refused}>
        <p className="break">{refusal.message === '' ? known?.title : refusal.message}</p>
        {known?.todo === undefined ? undefined : <p className="muted">{known.todo}</p>}
        <p className={classes.ids}>
          {refusal.code === 'offline' || refusal.code === 'unanswered' ? undefined : (
            <a href={`/problems/${refusal.code}`} target="_blank" rel="noreferrer">
              <code>{refusal.code}</code>
            </a>
          )}
          {refusal.requestId === undefined ? undefined : (
            <CopyText text={refusal.requestId} what={words.requestId} />
          )}
        </p>
        {retry === undefined ? undefined : (
          <div>
            <Button small onClick={retry}>
              {words.retry}
            </Button>
          </div>
        )}
      </Notice>
    </div>
  )
}

export function asRefused(error: unknown): Refused {
  if (error instanceof Refused) return error
  const detail = error instanceof Error ? error.message : words.refused
  return new Refused(0, 'internal_error', { detail })
}

/** The server's message about one field of a form; undefined if there is none. */
export function fieldError(error: unknown, field: string): string | undefined {
  if (!(error instanceof Refused)) return undefined
  return error.fields.find((one) => one.field === field || one.field === `/${field}`)?.message
}
