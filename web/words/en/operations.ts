import { inLanguage } from '../language.ts'
const englishOperationWords = {
  back: 'Webhooks',
  kinds: { replay: 'Replay', 'webhook.replay': 'Replay', export: 'Export' } as Readonly<
    Record<string, string>
  >,
  other: 'Operation',
  states: {
    running: 'Running',
    paused: 'Paused',
    cancelled: 'Cancelled',
    done: 'Done',
    failed: 'Failed',
  },
  lead: 'It runs on the server: you can leave this page or close the browser. It goes on after a restart.',
  progress: (done: string, total: string) => `${done} of ${total}`,
  rate: (perSecond: string, left: string) => `${perSecond} per second, ${left} left`,
  startedBy: (name: string) => `Started by ${name}`,
  facts: {
    id: 'Operation id',
    state: 'State',
    by: 'Started by',
    started: 'Started',
    updated: 'Last step',
    ended: 'Ended',
    wanted: 'Asked for',
  },
  pause: 'Pause',
  resume: 'Resume',
  cancel: 'Cancel operation',
  cancelTitle: 'Cancel this operation?',
  cancelText: (done: string) => `${done} are done and stay done; the rest is left as it is.`,
  doneText: (done: string) => `All ${done} were sent again.`,
  cancelledText: (done: string, total: string) => `Cancelled after ${done} of ${total}.`,
  failedTitle: 'The operation failed',
  toDeliveries: 'Show deliveries',
  navigation: (kind: string, percent: string) => `${kind}: ${percent}`,
  pausedNavigation: (kind: string) => `${kind}: paused`,
}

export const operationWords = inLanguage('operationWords', englishOperationWords)
