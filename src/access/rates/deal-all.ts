import { rateShares, type Tx } from '../../store/index.ts'
import { deal, type Dealt, type ShareRequest } from './deal.ts'
import type { Holding } from './holding.ts'

/** Renews a node's lease and deals its requests for shares; returns the results in the same order, and the live nodes. */
export async function dealAll(
  tx: Tx,
  requests: readonly (readonly [Holding, ShareRequest])[],
  node: { readonly id: string; readonly ttlMs: number },
): Promise<{ readonly dealt: readonly Dealt[]; readonly nodes: rateShares.RateNodes }> {
  const nodes = await rateShares.renewNode(tx, node)
  const subjects = requests.map(([{ subject }]) => subject)
  const records = await rateShares.lockSubjects(tx, subjects)
  const bySubject = Map.groupBy(records, ({ subjectId }) => subjectId)
  const dealt = requests.map(([, request]) =>
    deal(request, bySubject.get(request.subjectId) ?? [], nodes),
  )
  await rateShares.write(tx, {
    rows: dealt.flatMap(({ rows }) => rows),
    gone: dealt.flatMap(({ gone }) => gone),
  })
  return { dealt, nodes }
}
