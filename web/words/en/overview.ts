import { inLanguage } from '../language.ts'
import { many } from '../plural.ts'

const englishOverviewWords = {
  title: 'Overview',
  whereCallsStop: 'Where calls stop',
  whereLead:
    'Refusals by the check that made them; strangers without a valid key are counted, not recorded.',
  mostStop: (number: string, all: string, station: string) =>
    `${number} of ${all} refusals stop at ${station}.`,
  showThese: 'Show these calls',
  needsYou: 'Needs you',
  upstreamStatus: (status: string) => `upstream ${status}`,
  nothingNeeds: 'Nothing needs you.',
  traffic: 'Calls',
  kpis: {
    calls: 'Calls',
    refused: 'Refused',
    errors: 'Upstream errors',
    p95: 'p95 latency',
  },
  groups: {
    key_expiring: (number: number) => `${many(number, 'key expires', 'keys expire')} soon`,
    key_straggler: (number: number) =>
      `The old secrets of ${many(number, 'key is', 'keys are')} still used`,
    endpoint_disabled: (number: number) =>
      many(number, 'endpoint is disabled', 'endpoints are disabled'),
    endpoint_held: (number: number) => many(number, 'endpoint is held', 'endpoints are held'),
    domain_lost: (number: number) =>
      many(number, 'domain is no longer verified', 'domains are no longer verified'),
    target_failing: (number: number) => many(number, 'target is failing', 'targets are failing'),
    access_token_expiring: (number: number) =>
      many(number, 'access token ends soon', 'access tokens end soon'),
    scim_token_issuer_left: (number: number) =>
      `Who issued ${many(number, 'SCIM token', 'SCIM tokens')} has left`,
    other: (number: number) => many(number, 'more thing', 'more things'),
  },
  topKeys: 'Top keys',
  topTargets: 'Top targets',
  topErrors: 'Top errors',
  noCalls: 'No calls in this range.',
  countedBackTo: 'Too many calls to look at all of them. Counted back to',
  noErrors: 'No refusals and no upstream errors in this range.',
  unknownKey: 'unknown',
  removedTarget: 'removed',
  showCalls: 'Show calls',
  firstSteps: 'First steps',
  stepsLead: (done: number, all: number) => `${done} of ${all} done`,
  hide: 'Hide',
  steps: {
    target: ['Add a target', 'The API that you want to guard.', 'Add target'],
    key: ['Issue a key', 'It lets one program call your targets.', 'Issue key'],
    call: ['Make the first call', 'The key’s dialog has a line that you can paste.', 'Show calls'],
    endpoint: [
      'Add a webhook endpoint',
      'Hear about keys, refusals and members as they happen.',
      'Add endpoint',
    ],
    invited: ['Invite somebody', 'Two owners are safer than one.', 'Invite'],
  },
  open: 'Open',
}

export const overviewWords = inLanguage('overviewWords', englishOverviewWords)
