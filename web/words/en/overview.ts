export const overviewWords = {
  title: 'Overview',
  lead: (organization: string) => `${organization}, last 24 hours`,
  whereCallsStop: 'Where calls stop',
  whereLead:
    'Refusals by the check that made them; strangers without a valid key are counted, not recorded.',
  mostStop: (number: string, all: string, station: string) =>
    `${number} of ${all} refusals stop at ${station}.`,
  showThese: 'Show these calls',
  needsYou: 'Needs you',
  nothingNeeds: 'Nothing needs you.',
  traffic: 'Calls per hour',
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
