import { Type } from '../../../http/index.ts'
import { route } from '../../core/route.ts'
import { idCursor, limitOf, pageOf, pageQuery, toPageById } from '../../core/paging.ts'
import { Operation, toOperation } from './webhook-schema.ts'

const O = '/organizations/:organization/operations'

/** Long-running operations: their progress and how to control them. */
export const operationRoutes = {
  [`GET ${O}` as const]: route({
    summary: 'Operations, newest first',
    permission: 'traffic.see',
    query: Type.Object(pageQuery),
    answer: pageOf(Operation),
    handle: async ({ organization, query }, { webhooks }) => {
      const page = { before: idCursor('op', query.after), limit: limitOf(query) + 1 }
      return toPageById(query, await webhooks.operations.list(organization.id, page), toOperation)
    },
  }),

  [`GET ${O}/:operation` as const]: route({
    summary: 'An operation with its state and progress',
    permission: 'traffic.see',
    answer: Operation,
    handle: async ({ organization, param }, { webhooks }) =>
      toOperation(await webhooks.operations.get(organization.id, param('operation'))),
  }),

  [`POST ${O}/:operation/pause` as const]: route({
    summary: 'Pause an operation, which keeps its progress',
    permission: 'deliveries.replay',
    status: 200,
    answer: Operation,
    handle: async ({ organization, param, actor }, { webhooks }) =>
      toOperation(await webhooks.operations.pause(organization.id, param('operation'), actor)),
  }),

  [`POST ${O}/:operation/resume` as const]: route({
    summary: 'Resume a paused operation',
    permission: 'deliveries.replay',
    status: 200,
    answer: Operation,
    handle: async ({ organization, param, actor }, { webhooks }) =>
      toOperation(await webhooks.operations.resume(organization.id, param('operation'), actor)),
  }),

  [`POST ${O}/:operation/cancel` as const]: route({
    summary: 'Cancel an operation; what it has already done is not undone',
    permission: 'deliveries.replay',
    status: 200,
    answer: Operation,
    handle: async ({ organization, param, actor }, { webhooks }) =>
      toOperation(await webhooks.operations.cancel(organization.id, param('operation'), actor)),
  }),
}
