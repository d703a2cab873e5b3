/** The words of the frame and of all parts. Each page has its own object in words/en/. */
const plural = new Intl.PluralRules('en')

/** "1 filter is", "3 filters are": picks by number. */
export function many(number: number, one: string, other: string): string {
  return `${new Intl.NumberFormat('en').format(number)} ${plural.select(number) === 'one' ? one : other}`
}

interface ProblemWords {
  readonly title: string
  readonly todo?: string
}

const problems: Readonly<Record<string, ProblemWords | undefined>> = {
  offline: {
    title: 'Intercept does not answer',
    todo: 'Nothing is lost: what you typed stays here. Try again when the server is back.',
  },
  internal_error: {
    title: 'Something went wrong here',
    todo: 'The reason is in the server’s log under this request id.',
  },
  storage_unavailable: {
    title: 'The database does not answer',
    todo: 'Intercept goes on by itself when the database is back.',
  },
  plan_required: {
    title: 'The plan does not include this',
    todo: 'An operator can change it: npx intercept org set-plan <organization> enterprise',
  },
  permission_required: {
    title: 'Your role does not allow this',
    todo: 'An administrator of the organization can change your role.',
  },
  forbidden: {
    title: 'Your role does not allow this',
    todo: 'An administrator of the organization can change your role.',
  },
  sign_in_required: {
    title: 'You are signed out',
    todo: 'Sign in again; what you typed stays here.',
  },
  sign_in_too_old: {
    title: 'This needs a fresh sign-in',
    todo: 'Your sign-in is older than 1 hour. Sign in again, then repeat this.',
  },
  not_found: { title: 'There is nothing here' },
  invalid_input: { title: 'Some of the values are not acceptable' },
  conflict: {
    title: 'This does not fit what is there already',
    todo: 'Choose another name, or make room first.',
  },
  version_conflict: {
    title: 'Somebody else changed this in the meantime',
    todo: 'Reload to see their change, then make yours again.',
  },
  outbound_blocked: {
    title: 'This address must not be called',
    todo: 'An operator can open a private range: OUTBOUND_ALLOW_CIDRS.',
  },
  rate_limited: { title: 'Too many requests', todo: 'Wait a moment, then try again.' },
}

export const words = {
  loading: 'Reading…',
  retry: 'Try again',
  refused: 'Refused',
  requestId: 'request id',
  cancel: 'Cancel',
  close: 'Close',
  save: 'Save',
  undo: 'Undo',
  messages: 'Messages',
  none: 'none',
  never: 'never',
  now: 'just now',
  time: 'Time',
  actions: 'Actions',
  copy: 'Copy',
  copied: 'Copied',
  copySelected: 'Selected: press Ctrl+C or ⌘C',
  copyWhat: (what: string) => `Copy ${what}`,
  copyName: (name: string) => `Copy ${name}`,
  clickCopiesTime: 'Click copies the UTC time',
  typeName: (name: string) => `Type ${name} to go on`,
  stored: 'I have stored it',
  secretHeld: 'Copy it first, or say that you have stored it: it can’t be shown again.',
  noneMatch: (what: string, filters: number) =>
    `No ${what} match. ${many(filters, 'filter is', 'filters are')} on.`,
  clearFilters: 'Clear filters',
  removeFilter: (text: string) => `Remove filter ${text}`,
  notRead: (what: string) => `${what} could not be read`,
  shown: (number: number) => `${many(number, 'row', 'rows')} shown`,
  showMore: 'Show more',
  checks: 'Checks',
  forwarded: 'Forwarded',
  answered: 'Answered',
  whereCallsStop: 'Where calls stop',
  stations: {
    shape: 'Shape',
    key: 'Key',
    address: 'Address',
    browser: 'Browser',
    target: 'Target',
    rules: 'Rules',
    limits: 'Limits',
    forward: 'Forward',
  },
  stationStates: {
    passed: 'passed',
    stopped: 'stopped here',
    ahead: 'not reached',
    waits: 'waiting',
  },
  passed: 'passed',
  refusedHere: 'refused here',
  showTable: 'Show as table',
  showChart: 'Show as chart',
  numbersOfChart: 'Numbers of the chart',
  chartSays: (title: string, passed: number, refused: number) =>
    `${title}: ${passed} passed, ${refused} refused here`,
  everyMethod: 'None chosen: every method.',
  theseMethods: 'Only these.',
  roles: { owner: 'Owner', admin: 'Admin', developer: 'Developer', viewer: 'Viewer' },
  problems,
}

export const frameWords = {
  skip: 'Skip to content',
  organizationGroup: 'Organization',
  switchOrganization: 'Switch organization',
  otherOrganizations: 'All organizations',
  navigation: 'Navigation',
  openMenu: 'Open navigation',
  pages: {
    overview: 'Overview',
    calls: 'Calls',
    keys: 'API keys',
    targets: 'Targets',
    webhooks: 'Webhooks',
    members: 'Members',
    sso: 'SSO and SCIM',
    audit: 'Audit log',
    settings: 'Settings',
    you: 'You',
  },
  help: 'Help and shortcuts',
  search: 'Go to…',
  theme: 'Theme',
  themes: { system: 'As the system', light: 'Light', dark: 'Dark' },
  signOut: 'Sign out',
  signIn: 'Sign in',
  signedOutTitle: 'You are signed out',
  signedOutText:
    'Your session has ended. Sign in in another tab, then go on here: what you typed stays.',
  signInAgain: 'Sign in in a new tab',
  goOn: 'Go on',
  offline: 'Intercept does not answer. Trying again…',
  notFoundTitle: 'There is nothing here',
  notFoundText:
    'The address is wrong, the thing was deleted, or it belongs to an organization you are not a member of.',
  toOverview: 'Go to the overview',
  failedTitle: 'This page could not be shown',
  upgraded: 'Intercept was probably upgraded while this tab was open.',
  reload: 'Reload',
  paletteLabel: 'Go to a page, key, target or endpoint',
  palettePlaceholder: 'Page, key, target, endpoint, or paste an id (req_…, evt_…, key_…)',
  paletteNothing: 'Nothing has this name.',
  palettePages: 'Pages',
  paletteKinds: {
    page: 'Page',
    key: 'Key',
    target: 'Target',
    endpoint: 'Endpoint',
    call: 'Call',
    event: 'Event',
  },
  helpTitle: 'Help',
  shortcuts: 'Single-key shortcuts',
  shortcutsHint: 'Switch them off if you use speech input or a screen reader that sends keys.',
  reference: 'API reference',
  guidePages: 'Guides',
  problemPages: 'What each refusal means',
  commandLine: 'Command line: npx intercept help',
  keysTable: [
    ['Ctrl K or ⌘ K', 'go to a page, key, target or endpoint'],
    ['/', 'search the list'],
    [
      'g then o c k t w m s a',
      'Overview, Calls, API keys, Targets, Webhooks, Members, SSO and SCIM, Audit log',
    ],
    ['↑ ↓ or j k', 'move through rows'],
    ['Enter', 'open the row'],
    ['Esc', 'close'],
    ['l', 'live calls on or off'],
    ['?', 'this help'],
  ] as const,
  operationRunning: (done: string) => `Operation: ${done} done`,
}
