export const settingsWords = {
  title: 'Settings',
  lead: 'Of this organization.',
  general: 'General',
  name: 'Name',
  slug: 'Slug',
  slugHint: 'Part of addresses. It can’t be changed.',
  id: 'Organization id',
  plan: 'Plan',
  plans: { standard: 'Standard', enterprise: 'Enterprise' } as Readonly<
    Record<string, string | undefined>
  >,
  planHint: 'An operator sets it: npx intercept org set-plan',
  created: 'Made',
  saved: 'Name changed',
  retention: 'How long things are kept',
  retentionLead:
    'The defaults. The operator can set others for the whole Intercept; npx intercept doctor shows them.',
  retentionFacts: [
    ['Calls', '30 days'],
    ['Deliveries', '30 days'],
    ['Audit log', '400 days'],
  ] as const,
  danger: 'Delete organization',
  dangerText:
    'All keys are refused from the next call on, deliveries stop, members lose their access. This can’t be undone.',
  delete: 'Delete organization',
  deleteTitle: (name: string) => `Delete ${name}?`,
  deleted: 'Organization deleted',
}
