import { Type } from '../../http/index.ts'
import { previewJson } from '../../targets/index.ts'
import { route } from '../core/route.ts'
import { input, nullable, oneOf, Time } from '../core/schemas.ts'
import { OtherwiseInput, RuleInputs } from './target-schema.ts'

const ApiRulePreview = Type.Object(
  {
    /** The beginning of the 24 hours. */
    from: Time,
    /** Calls that the rules are asked about. */
    calls: Type.Integer(),
    refused: Type.Integer(),
    /** Of the refused ones: those that the present rules allow. */
    newly_refused: Type.Integer(),
    /** Those that the present rules refuse and these would allow. */
    newly_allowed: Type.Integer(),
    /** False where there were more calls than are looked at: then these are the newest. */
    complete: Type.Boolean(),
    /** The last line that would hold. */
    otherwise: oneOf(['allow', 'refuse']),
    /** The refused ones by method and path, those with the most calls first. */
    items: Type.Array(
      Type.Object(
        {
          method: Type.String(),
          path: Type.String(),
          calls: Type.Integer(),
          /** The number of the rule that refuses, from 1; null for the last line. */
          rule: nullable(Type.Integer()),
          /** Whether the present rules allow them. */
          newly: Type.Boolean(),
          last_call_id: Type.String(),
          last_at: Time,
        },
        { title: 'RefusedCalls' },
      ),
    ),
    /** Refused calls that are not in the list. */
    others: Type.Integer(),
  },
  { title: 'RulePreview' },
)

/** What rules would do, before they are saved. */
export const rulePreviewRoutes = {
  'POST /organizations/:organization/targets/:target/rules/preview': route({
    summary: 'Replay the last 24 hours of calls through other rules; nothing is saved',
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
