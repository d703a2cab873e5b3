import { inLanguage } from '../language.ts'
import { words } from '../en.ts'

const englishEntryWords = {
  signIn: {
    title: 'Sign in',
    lead: 'To the dashboard of this Intercept.',
    with: (provider: string) => `Continue with ${provider}`,
    providers: { github: 'GitHub', google: 'Google' } as Readonly<
      Record<string, string | undefined>
    >,
    or: 'or',
    email: 'Company e-mail',
    emailHint: 'Leads to your company’s own sign-in.',
    sso: 'Continue with company sign-in',
    none: 'No sign-in provider is set up',
    noneText:
      'An operator sets GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET, or GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET. Until then the command line makes a link that signs you in once:',
    problem: 'You are not signed in',
    insecure: 'Your browser will not keep the sign-in',
    insecureText: (here: string, base: string) =>
      `Intercept is open at ${here}; browsers keep the sign-in cookie only over https or on localhost. Open ${base} instead.`,
  },
  setup: {
    title: 'Set up Intercept',
    checking: 'Looking at the link…',
    used: 'This link has been used or is older than 1 hour',
    usedText: 'Print a new one on the server:',
    alreadySignedIn: 'Or sign in, if the first owner exists already.',
    step: (number: number, of: number) => `Step ${number} of ${of}`,
    you: 'You',
    youLead: 'The first owner. You are signed in at once; nobody sends a mail.',
    name: 'Name',
    email: 'E-mail',
    next: 'Next',
    back: 'Back',
    organization: 'Organization',
    organizationLead: 'The organization. Keys, targets and members belong to it.',
    organizationName: 'Name of the organization',
    slug: 'Slug',
    slugHint: 'Part of addresses. Lower-case letters, digits and hyphens.',
    create: 'Create organization',
    takenTitle: (slug: string) => `There is an organization ${slug} already`,
    takenText:
      'Somebody made it on the command line. Choose another slug, or become the owner of that one, with its targets and keys.',
    own: (slug: string) => `Become the owner of ${slug}`,
    target: 'What do you want to guard?',
    targetLead: 'The address of an API. Programs will call it through Intercept.',
    addTarget: 'Add target',
    key: 'Issue a key',
    keyLead: 'It is shown once. Run the line below, and watch the call arrive.',
    issue: 'Issue key',
    keyName: 'first-key',
    issueAnother: 'Issue another key',
    keyWasShown:
      'Your key was issued and shown before this page was loaded again. It can’t be shown twice: use the one you copied, or issue another.',
    reaching: 'Asking the upstream…',
    notReached: 'The target is added, but its upstream did not answer',
    otherUpstream: 'Another address',
    otherUpstreamHint: 'Leave it empty to ask the same address again.',
    testAgain: 'Test again',
    goOnAnyway: 'Go on anyway',
    skip: 'Skip',
    finish: 'Go to the overview',
    cookieTitle: 'Your browser did not keep the sign-in cookie',
    cookieText:
      'Browsers keep it only over https or on localhost, and Safari not over plain http. Open Intercept there, then use the sign-in link of the command line.',
  },
  welcome: {
    title: 'Your organizations',
    lead: (email: string) => `Signed in as ${email}`,
    open: 'Open',
    role: (role: keyof typeof words.roles) => words.roles[role],
    invitations: 'Invitations',
    accept: 'Accept',
    invitedAs: (role: keyof typeof words.roles) => `You are invited as ${words.roles[role]}.`,
    nobody: 'Nobody has invited you yet',
    nobodyText: (email: string) => `Ask an administrator to invite ${email}, or on the server:`,
    joined: (organization: string) => `You are a member of ${organization}`,
    create: 'New organization',
    createTitle: 'Make an organization',
    createAction: 'Create organization',
  },
  invitation: {
    title: (organization: string) => `Join ${organization}`,
    lead: (email: string, role: keyof typeof words.roles) =>
      `${email} is invited as ${words.roles[role]}.`,
    accept: 'Accept invitation',
    signIn: (email: string) =>
      `Sign in with an account whose verified e-mail is ${email}. Then the invitation is accepted.`,
    company: 'Sign in with your company',
    noWayTitle: 'No sign-in is set up here yet',
    noWay: (email: string) =>
      `The invitation for ${email} is fine, but this server has no way for you to sign in. Send this to whoever invited you; the link stays valid meanwhile.`,
    ask: (organization: string, email: string, role: string) =>
      `I cannot accept the invitation to ${organization}: no sign-in is set up. Please connect our identity provider (SSO) or set up GitHub or Google sign-in, or let the operator of the server run:\nnpx interceptd member add ${organization} ${email} --role ${role}\nnpx interceptd sign-in-link ${email}`,
    gone: 'This invitation can’t be used',
    goneText: 'It was used, withdrawn, or is too old. Ask for a new one.',
    signedInAs: (email: string) => `You are signed in as ${email}.`,
    other: 'Sign in as somebody else',
  },
}

export const entryWords = inLanguage('entryWords', englishEntryWords)
