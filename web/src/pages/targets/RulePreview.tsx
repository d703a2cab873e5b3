import { useQuery, useQueryClient, queryOptions } from '@tanstack/react-query'
import { call, type Answer } from '../../api/call.ts'
import type { Target } from '../../api/shapes.ts'
import { targetsWords } from '../../../words/en/targets.ts'
import { cx } from '../../parts/cx.ts'
import { count } from '../../parts/numbers.ts'
import { Tag } from '../../parts/Surface.tsx'
import { useSettled } from '../../parts/useSettled.ts'
import { savedRule, type DraftRule } from './draft-rule.ts'
import type { Otherwise } from './LastLine.tsx'
import classes from './targets.module.css'

const w = targetsWords.preview
const settledAfterMs = 600
const maxShown = 10

type Preview = Answer<'POST /organizations/:organization/targets/:target/rules/preview'>

/** The edited rules, and the action chosen for calls that no rule decides. */
export interface RuleDraft {
  readonly rules: readonly DraftRule[]
  readonly otherwise: Otherwise
}

function previewQuery(organization: string, target: Target, draft: RuleDraft) {
  const body = savedDraft(draft)
  return queryOptions({
    queryKey: [organization, 'rule-preview', target.slug, target.version, JSON.stringify(body)],
    queryFn: ({ signal }) =>
      call(
        'POST /organizations/:organization/targets/:target/rules/preview',
        { path: { organization, target: target.slug }, body },
        { signal },
      ),
    retry: false,
    staleTime: 60_000,
  })
}

export function savedDraft({ rules, otherwise }: RuleDraft) {
  return { rules: rules.map(savedRule), otherwise: otherwise ?? null }
}

/**
 * Evaluates the draft against the recorded calls of the last 24 hours once its author stops typing; `ask` evaluates a
 * draft immediately.
 */
export function useRulePreview(organization: string, target: Target, draft: RuleDraft | undefined) {
  const client = useQueryClient()
  const settled = useSettled(draft, settledAfterMs)
  const query = useQuery({
    ...previewQuery(organization, target, settled ?? { rules: [], otherwise: undefined }),
    enabled: settled !== undefined,
  })
  return {
    /** The preview of this draft; undefined until it has arrived. */
    shown: draft !== undefined && settled === draft ? query.data : undefined,
    isPending: draft !== undefined && (settled !== draft || query.isFetching),
    ask: async (now: RuleDraft) => {
      // A failed preview must not block saving: if the draft is invalid, saving reports why.
      return await client.fetchQuery(previewQuery(organization, target, now)).catch(() => undefined)
    },
  }
}

export function RulePreview({
  preview,
  pending,
}: {
  readonly preview: Preview | undefined
  readonly pending: boolean
}) {
  if (preview === undefined) {
    return <p className={cx(classes.foot, 'muted small')}>{pending ? w.pending : w.unknown}</p>
  }
  const { calls, refused, newly_refused: newly, newly_allowed: opened, items } = preview
  const shown = items.slice(0, maxShown)
  const rest = refused - shown.reduce((sum, item) => sum + item.calls, 0)
  return (
    <div className={classes.preview}>
      <p>
        <strong className={newly > 0 ? classes.bad : undefined}>
          {w.refused(count(refused), count(calls))}
        </strong>{' '}
        {newly > 0 ? w.newly(count(newly)) : ''} {opened > 0 ? w.opened(count(opened)) : ''}{' '}
        {preview.complete ? '' : w.newest}
      </p>
      {shown.length === 0 ? undefined : (
        <table className={classes.refusedCalls}>
          <caption className="visually-hidden">{w.caption}</caption>
          <thead>
            <tr>
              <th scope="col">{w.calls}</th>
              <th scope="col">{w.method}</th>
              <th scope="col">{w.path}</th>
              <th scope="col">{w.by}</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((item) => (
              <tr key={`${item.method} ${item.path}`}>
                <td>{count(item.calls)}</td>
                <td className="mono">{item.method}</td>
                <td className="mono break">
                  {item.path} {item.newly ? <Tag>{w.new}</Tag> : undefined}
                </td>
                <td>{item.rule === undefined ? w.lastLine : w.rule(item.rule)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {rest > 0 ? <p className="muted small">{w.more(count(rest))}</p> : undefined}
    </div>
  )
}
