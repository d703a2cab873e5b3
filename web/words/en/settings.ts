import { inLanguage } from '../language.ts'
const englishSettingsWords = {
  title: 'Settings',
  lead: 'Name, defaults, limits and retention of this organization.',
  general: 'General',
  name: 'Name',
  slug: 'Slug',
  slugHint: 'Part of addresses. It can’t be changed.',
  id: 'Organization id',
  plan: 'Plan',
  plans: { standard: 'Standard', enterprise: 'Enterprise' } as Readonly<
    Record<string, string | undefined>
  >,
  planHint: 'set by the operator: npx interceptd org set-plan',
  created: 'Created',
  saved: 'Name changed',
  keyDefaults: 'Defaults for new keys',
  keyDefaultsLead:
    'Used for every key that is issued without settings of its own, here and on the command line. Existing keys do not change.',
  scheme: 'Scheme',
  ends: 'Ends after (days)',
  endsHint: 'Empty means no end of its own; the dialog then suggests 90 days.',
  addresses: 'Allowed addresses',
  addressesHint: 'CIDR ranges, one per line. Empty means any address.',
  keyDefaultsSaved: 'Defaults for new keys changed',
  rate: 'Rate of all calls',
  rateLead:
    'What all keys and targets share, over all nodes. Their own rates hold besides. Empty means no limit.',
  rateCalls: 'Calls',
  rateSeconds: 'In seconds',
  rateSaved: 'Rate changed',
  retention: 'Retention',
  retentionLead:
    'Set by the operator for all organizations (RETENTION_…). Anything older is deleted.',
  calls: 'Calls',
  deliveries: 'Deliveries',
  audit: 'Audit log',
  danger: 'Delete organization',
  dangerText:
    'All keys are refused from the next call on, deliveries stop, members lose their access. This can’t be undone.',
  delete: 'Delete organization',
  deleteTitle: (name: string) => `Delete ${name}?`,
  deleted: 'Organization deleted',
}

export const settingsWords = inLanguage('settingsWords', englishSettingsWords)
