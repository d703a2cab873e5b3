import { Type } from '../../http/index.ts'
import { previewJson } from '../../targets/index.ts'
import { route } from '../core/route.ts'
import { input, nullable, oneOf, Time } from '../core/schemas.ts'
import { OtherwiseInput, RuleInputs } from './target-schema.ts'

const ApiRulePreview = Type.Object(
  {
    /** The start of the last 24 hours, whose calls were evaluated. */
    from: Time,
    /** Calls of these 24 hours that reached the rules. */
    calls: Type.Integer(),
    refused: Type.Integer(),
    /** Refused calls that the current rules allow. */
    newly_refused: Type.Integer(),
    /** Calls that the current rules refuse and the new ones would allow. */
    newly_allowed: Type.Integer(),
    /** False if there were too many calls to examine, so that only the newest are counted. */
    complete: Type.Boolean(),
    /** The effective action for calls that no rule decides. */
    otherwise: oneOf(['allow', 'refuse']),
    /** The refused calls by method and path, most frequent first. */
    items: Type.Array(
      Type.Object(
        {
          method: Type.String(),
          path: Type.String(),
          calls: Type.Integer(),
          /** The number of the refusing rule, starting at 1; null if no rule decided. */
          rule: nullable(Type.Integer()),
          /** Whether the current rules allow these calls. */
          newly: Type.Boolean(),
          last_call_id: Type.String(),
          last_at: Time,
        },
        { title: 'RefusedCalls' },
      ),
    ),
    /** How many refused calls are missing from `items`, because the list is limited. */
    others: Type.Integer(),
  },
  { title: 'RulePreview' },
)

/** Previews the effect of rules before they are saved. */
export const rulePreviewRoutes = {
  'POST /organizations/:organization/targets/:target/rules/preview': route({
    summary:
      'Evaluate other rules against the recorded calls of the last 24 hours, without saving the rules',
    permission: 'targets.manage',
    status: 200,
    body: input({ rules: Type.Optional(RuleInputs), otherwise: OtherwiseInput }),
    answer: ApiRulePreview,
    handle: async ({ organization, param, body, signal }, { targets }) =>
      previewJson(
        await targets.preview(
          { organizationId: organization.id, idOrSlug: param('target') },
          body,
          signal,
        ),
      ),
  }),
}
