import { inLanguage } from '../language.ts'
import { count as number, many } from '../plural.ts'

const englishWebhookWords = {
  title: 'Webhooks',
  lead: 'Everything that happens is announced to your receivers as a signed event.',
  sections: {
    label: 'Webhooks',
    endpoints: 'Endpoints',
    deliveries: 'Deliveries',
    types: 'Event types',
    secret: 'Secret',
  },

  add: 'Add endpoint',
  endpoints: {
    columns: {
      url: 'Endpoint',
      state: 'State',
      deliveries: 'Deliveries',
      types: 'Types',
      success: 'Last success',
    },
    emptyTitle: 'No endpoints yet',
    emptyText:
      'An endpoint is an address of yours that gets every event as a signed POST. No receiver yet? This one prints each delivery and says whether its signature holds:',
    receive: 'npx interceptd receive --port 9000',
    receiveName: 'command that starts a receiver',
  },
  copySecret: (form: string) => `Copy: ${form}`,
  states: { active: 'Active', held: 'Held', disabled: 'Disabled' },
  allTypes: 'all types',
  types: (count: number) => many(count, 'type', 'types'),
  nothingSent: 'nothing sent yet',
  delivered: (count: number) => `${number(count)} delivered`,
  books: (delivered: number, waiting: number, lost: number) =>
    [
      `${number(delivered)} delivered`,
      ...(waiting === 0 ? [] : [`${number(waiting)} waiting`]),
      ...(lost === 0 ? [] : [`${number(lost)} dead or skipped`]),
    ].join(', '),

  form: {
    addTitle: 'Add an endpoint',
    editTitle: 'Edit endpoint',
    url: 'Address',
    urlHint: 'Gets a POST for each event. Only a 2xx answer within 15 seconds counts as delivered.',
    description: 'Description',
    descriptionHint: 'What it is for, such as Billing.',
    types: 'Event types',
    typesAll: 'Every type, also those that come later',
    typesSome: 'Only these types',
    typeSearch: 'Search types',
    more: 'Headers, rate, order',
    headers: 'Own headers',
    headersHint:
      'One per line, such as X-Team: billing. They are sealed and never shown again; only their names are.',
    headersKept: (names: string) =>
      `Set now: ${names}. Leave this empty to keep them; what you type replaces all of them.`,
    headersDrop: 'Send none of these headers any more',
    headersWrong: (line: string) => `“${line}” is not a header: write Name: value.`,
    rate: 'Rate',
    rateHint: 'Deliveries per second at most. Empty means as fast as it answers.',
    rateWrong: 'Write a whole number from 1 on, or leave it empty.',
    ordered: 'In order',
    orderedHint: 'The next event waits until the one before is delivered or dead.',
    asymmetric: 'Ed25519 signature too',
    asymmetricHint:
      'A second signature (v1a) that receivers verify with a public key instead of the secret.',
    save: 'Save',
  },
  added: 'Endpoint added',
  addedText: 'Send a ping to see whether it verifies.',
  saved: 'Endpoint saved',

  endpoint: {
    ping: 'Send ping',
    tryNow: 'Try now',
    pinged: 'Ping sent',
    pingedText: 'Its delivery appears below.',
    pingWaits: 'Trying the endpoint now',
    pingWaitsText: 'If it answers 2xx, everything that waits is sent, and then a ping.',
    edit: 'Edit',
    more: 'More',
    disable: 'Disable',
    disabled: 'Endpoint disabled',
    disabledText: 'Its events become skipped deliveries, which can be replayed.',
    enable: 'Enable',
    enabled: 'Endpoint enabled',
    replayMissed: 'Replay everything missed',
    delete: 'Delete',
    deleted: 'Endpoint deleted',
    deleteTitle: 'Delete this endpoint?',
    deleteText:
      'Nothing is sent to it any more. Its past deliveries stay visible until they are too old. This can’t be undone.',
    deleteWaiting: (count: number) =>
      `${many(count, 'delivery waits', 'deliveries wait')} and will be skipped.`,
    heldTitle: (failures: number, since: string) =>
      `Held: ${many(failures, 'failure', 'failures')} in a row since ${since}.`,
    heldText: (waiting: number) =>
      waiting === 0
        ? 'Nothing waits. It is tried again by itself and goes on with the first success.'
        : `${many(waiting, 'delivery waits', 'deliveries wait')} and will be sent when it answers. Nothing is lost.`,
    nextProbe: 'Next try',
    disabledTitle: 'Disabled',
    reasons: {
      by_hand: 'Somebody switched it off.',
      gone: 'The receiver answered 410 Gone.',
      receiver_asked: 'The receiver answered with webhook-delivery: disable.',
      failing: 'No delivery succeeded for 5 days.',
    },
    disabledNow:
      'Its events are kept as skipped deliveries. Enable it when the receiver is ready, then replay what was missed.',
    failing: (failures: number, since: string) =>
      `${many(failures, 'failure', 'failures')} in a row since ${since}. After 20 it is held: nothing is lost, and it is tried again by itself.`,
    books: 'Deliveries so far',
    booksLead: 'Each event for this endpoint is in exactly one of these states.',
    settings: 'Settings',
    latest: 'Latest deliveries',
    all: 'Show all',
    facts: {
      id: 'Endpoint id',
      url: 'Address',
      types: 'Event types',
      headers: 'Own headers',
      rate: 'Rate',
      order: 'Order',
      publicKey: 'Public key',
      created: 'Added',
      success: 'Last success',
      attempt: 'Last attempt',
    },
    noHeaders: 'none',
    noRate: 'as fast as it answers',
    rate: (perSecond: number) => `${number(perSecond)} per second`,
    ordered: 'one after the other',
    unordered: 'in parallel; sequence tells the order',
  },

  figures: {
    outcomes: 'Deliveries by outcome',
    outcomesSampled: 'Newest 20,000 deliveries by outcome',
    latency: 'Time from event to delivery',
    backlog: 'Backlog',
    waiting: 'waiting',
  },
  deliveryStates: {
    pending: 'Waiting',
    retrying: 'Retrying',
    held: 'Held',
    delivered: 'Delivered',
    dead: 'Dead',
    skipped: 'Skipped',
    missed: 'Missed (dead or skipped)',
  },
  deliveryStateHints: {
    pending: 'will be tried',
    held: 'waits for the endpoint',
    delivered: 'answered 2xx',
    dead: '10 attempts failed',
    skipped: 'endpoint disabled',
  },

  deliveries: {
    title: 'Deliveries',
    what: 'deliveries',
    columns: {
      time: 'Time',
      type: 'Type',
      endpoint: 'Endpoint',
      state: 'State',
      attempts: 'Attempts',
      answer: 'Last answer',
      next: 'Next attempt',
    },
    filters: {
      endpoint: 'Endpoint',
      state: 'State',
      type: 'Type',
      event: 'Event',
      from: 'From',
      to: 'Until',
    },
    since: 'Time',
    sinceChoices: { hour: 'Last hour', day: 'Last 24 hours', week: 'Last 7 days' },
    emptyTitle: 'Nothing sent yet',
    emptyText: 'Deliveries of all endpoints appear here. Send a ping to see the first one.',
    toEndpoints: 'Go to endpoints',
    replay: 'Replay…',
    deletedEndpoint: 'deleted endpoint',
    notTried: 'not tried yet',
  },

  delivery: {
    replay: 'Replay',
    replayed: 'Replayed: it is sent again now',
    replayedHeld: 'Replayed: it waits, because its endpoint is held',
    replayedHeldText: 'It is sent as soon as the endpoint answers again.',
    facts: {
      state: 'State',
      id: 'Delivery id',
      event: 'Event id',
      endpoint: 'Endpoint',
      sequence: 'Sequence',
      created: 'Event happened',
      next: 'Next attempt',
      ended: 'Ended',
      skipped: 'Why skipped',
    },
    skippedReasons: {
      endpoint_disabled: 'The endpoint was disabled.',
      endpoint_deleted: 'The endpoint was deleted.',
    },
    attempts: 'Attempts',
    noAttempts: 'Not tried yet.',
    attempt: (index: number) => `Attempt ${index}`,
    probe: 'probe of the held endpoint',
    answer: 'Answer',
    answerCut: 'Answer, first 16 KiB',
    noAnswer: 'No body in the answer.',
    body: 'Body',
    bodyLead: (size: string) => `The stored bytes, ${size}: the same on every attempt.`,
    bodyGone: 'The event is too old: its bytes are not kept any more.',
    verify: 'Verify it yourself',
    verifyLead:
      'Prints the webhook-signature of the last attempt from these bytes. Compare it with the header that your receiver got.',
    verifyName: 'command that computes the signature',
    otherOfEvent: 'Deliveries of this event to all endpoints',
  },
  failures: {
    blocked: 'address is blocked',
    dns: 'name not found',
    connect: 'could not connect',
    tls: 'TLS failed',
    timeout: 'no answer in time',
    reset: 'connection broken',
    invalid: 'answer is not HTTP',
    aborted: 'cut off at a restart',
    internal: 'failed here',
  },

  replay: {
    title: 'Replay deliveries',
    lead: 'The same bytes are sent again with the same event id, so receivers can deduplicate them.',
    what: 'Which deliveries',
    missed: 'Everything missed: dead and skipped',
    filtered: 'All that the filters on this page find',
    endpoint: 'Endpoint',
    everyEndpoint: 'All endpoints',
    since: 'Since',
    sinceChoices: { hour: 'Last hour', day: 'Last 24 hours', week: 'Last 7 days', '': 'Always' },
    counting: 'Counting…',
    count: (count: number) =>
      count === 0
        ? 'Nothing to replay. Deliveries of disabled endpoints count only once the endpoint is enabled.'
        : `${many(count, 'delivery', 'deliveries')} will be sent again.`,
    action: 'Replay',
    started: 'Replay started',
  },
} as const

export const webhookWords = inLanguage('webhookWords', englishWebhookWords)

const englishTypeWords = {
  none: 'No event types',
  list: 'Event types',
  sample: 'Sample',
  schema: 'Schema',
  schemaLead: 'JSON Schema of the whole body. Later versions only add members.',
  send: 'Send this sample',
  sendTitle: 'Send this sample',
  sendLead: 'A signed delivery with this sample goes to one endpoint, marked as a test by its id.',
  sendTo: 'Endpoint',
  sendAction: 'Send sample',
  sampleWaits: 'The sample waits, because the endpoint is held',
  sent: 'Sample sent',
  sentText: 'Its delivery appears under Deliveries.',
  noEndpoint: 'There is no endpoint that is active or held. Add one first.',
}

export const typeWords = inLanguage('typeWords', englishTypeWords)

const englishSecretWords = {
  title: 'Signing secret',
  lead: 'Every delivery to every endpoint is signed with it. Receivers verify that an event comes from here and was not changed.',
  notAllowed: 'Only owners and admins see the signing secret.',
  show: 'Show the secret',
  hide: 'Hide',
  copy: 'Copy',
  whole: 'The whole secret',
  wholeHint: 'For intercept receive, and for the plain header intercept-signature-256.',
  standard: 'For Standard Webhooks and Svix libraries',
  standardHint: 'The same without its first four characters: secret.slice(4).',
  since: 'Signs since',
  old: 'Old secrets that still sign',
  oldLead:
    'Each delivery carries one signature per secret, so receivers can change at their own time.',
  until: 'until',
  endOld: 'End now',
  endOldTitle: 'End the old secrets?',
  endOldText:
    'Receivers that know only an old secret refuse every delivery from now on, until they know the new one. Refused deliveries are retried.',
  endOldDone: 'Old secrets ended',
  rotate: 'Rotate',
  rotateTitle: 'Rotate the signing secret',
  rotateLead:
    'A new secret signs from now on. The old one signs beside it while receivers change over.',
  overlap: 'The old secret signs for',
  overlaps: { day: '24 hours', none: 'no longer (it leaked)' },
  overlapHint: 'Receivers that know only the old secret go on verifying for this long.',
  overlapNone:
    'Receivers refuse every delivery until they know the new secret. Refused deliveries are retried.',
  rotated: 'Secret rotated',
  rotatedText: 'Give the new one to your receivers.',
  verify: 'Verify a delivery',
  verifyLead:
    'Keep the whole secret in INTERCEPT_WEBHOOK_SECRET. Check the raw body, then deduplicate by webhook-id.',
  install: (language: string) => `preparation for ${language}`,
  code: (language: string) => `code for ${language}`,
}

export const secretWords = inLanguage('secretWords', englishSecretWords)
