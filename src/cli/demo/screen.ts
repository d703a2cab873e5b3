export interface DemoFacts {
  readonly baseUrl: string
  /** The preferred port, if it was taken. */
  readonly takenPort: number | undefined
  readonly folder: string
  readonly isTemporary: boolean
  readonly key: { readonly id: string; readonly secret: string }
  readonly signInLink: string
  readonly owner: string
  readonly colleague: string
  readonly providerUrl: string
  readonly receiverUrl: string
}

/**
 * Renders text that fills at most 24 rows of 80 columns, counting the rows onto which long lines wrap. Each command is
 * a single line, so that it can be pasted.
 */
export function renderScreen(facts: DemoFacts): string {
  const { baseUrl, key } = facts
  const header = `-H 'X-API-Key: ${key.secret}'`
  const call = `${baseUrl}/api/v1/intercept/echo`
  const data = facts.isTemporary ? 'data: temporary, removed at Ctrl+C' : `data: ${facts.folder}`
  return [
    `Intercept demo is running at ${baseUrl}${facts.takenPort === undefined ? '' : ` (${facts.takenPort} was taken)`}`,
    `${data}; nothing leaves this machine. Safari: use another browser.`,
    '1 Call the echo API through Intercept:',
    `curl ${call}/hello ${header}`,
    '2 Stream from it, unbuffered:',
    `curl -N '${call}/events?count=5' ${header}`,
    '3 Be refused by a rule:',
    `curl -X DELETE ${call}/admin/users ${header}`,
    `4 Look around, signed in as ${facts.owner} (works once, for 1 h):`,
    facts.signInLink,
    `5 Company sign-in as ${facts.colleague}, by a test provider at ${facts.providerUrl}:`,
    `${baseUrl}/api/v1/auth/sso/login?email=${facts.colleague}`,
    '6 Stop a leak, in another terminal; then repeat 1:',
    `PORT=${new URL(baseUrl).port} DATA_DIR=${facts.folder} npx interceptd key revoke ${key.id}`,
    `Below: webhooks, as a receiver at ${facts.receiverUrl} gets them.`,
  ].join('\n')
}
