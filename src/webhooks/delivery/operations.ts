import { Problem } from '../../errors.ts'
import {
  operations,
  type Actor,
  type OperationRecord,
  type OperationState,
  type Store,
  type AuditVerb,
} from '../../store/index.ts'

export interface Operations {
  list(
    organizationId: string,
    page: { before?: string | undefined; limit: number },
  ): Promise<OperationRecord[]>
  /** Throws `not_found`. */
  get(organizationId: string, id: string): Promise<OperationRecord>
  /** Like `resume` and `cancel`, throws `not_found`, or `conflict` if the operation's state does not allow it. */
  pause(organizationId: string, id: string, actor: Actor): Promise<OperationRecord>
  resume(organizationId: string, id: string, actor: Actor): Promise<OperationRecord>
  cancel(organizationId: string, id: string, actor: Actor): Promise<OperationRecord>
}

export function createOperations(deps: { store: Store; onResumed: () => void }): Operations {
  const { store } = deps

  async function get(organizationId: string, id: string): Promise<OperationRecord> {
    const found = await operations.find(store, organizationId, id)
    if (!found) throw new Problem('not_found', 'There is no such operation.')
    return found
  }

  async function move(
    { organizationId, id }: { organizationId: string; id: string },
    actor: Actor,
    change: {
      from: readonly OperationState[]
      to: OperationState
      action: AuditVerb<'operation.'>
    },
  ): Promise<OperationRecord> {
    const { state } = await get(organizationId, id)
    return await store.transaction(async (tx) => {
      const moved = await operations.setState(tx, { organizationId, id, change })
      if (!moved) throw new Problem('conflict', `The operation is ${state}.`)
      tx.audit({
        ...{ organizationId, actor, action: `operation.${change.action}` },
        subject: { kind: 'operation', id },
        detail: { done: moved.done, total: moved.total },
      })
      return moved
    })
  }

  return {
    get,
    list: async (organizationId, page) => await operations.list(store, organizationId, page),
    pause: async (organizationId, id, actor) => {
      const change = { from: ['running'], to: 'paused', action: 'paused' } as const
      return await move({ organizationId, id }, actor, change)
    },
    async resume(organizationId, id, actor) {
      const change = { from: ['paused'], to: 'running', action: 'resumed' } as const
      const moved = await move({ organizationId, id }, actor, change)
      deps.onResumed()
      return moved
    },
    cancel: async (organizationId, id, actor) => {
      const from = ['running', 'paused'] as const
      return await move({ organizationId, id }, actor, {
        from,
        to: 'cancelled',
        action: 'cancelled',
      })
    },
  }
}
