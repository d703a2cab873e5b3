import type { operationWords as English } from '../en/operations.ts'
import type { Translated } from '../translated.ts'

export const operationWords: Translated<typeof English> = {
  back: 'Webhooks',
  kinds: {
    replay: 'Erneute Zustellung',
    'webhook.replay': 'Erneute Zustellung',
    export: 'Export',
  },
  other: 'Vorgang',
  states: {
    running: 'Läuft',
    paused: 'Angehalten',
    cancelled: 'Abgebrochen',
    done: 'Fertig',
    failed: 'Gescheitert',
  },
  lead: 'Er läuft auf dem Server: Sie können die Seite verlassen oder den Browser schließen. Nach einem Neustart geht er weiter.',
  progress: (done, total) => `${done} von ${total}`,
  rate: (perSecond, left) => `${perSecond} pro Sekunde, noch ${left}`,
  startedBy: (name) => `Gestartet von ${name}`,
  facts: {
    id: 'Vorgangs-ID',
    state: 'Zustand',
    by: 'Gestartet von',
    started: 'Begonnen',
    updated: 'Letzter Schritt',
    ended: 'Beendet',
    wanted: 'Auftrag',
  },
  pause: 'Anhalten',
  resume: 'Fortsetzen',
  cancel: 'Vorgang abbrechen',
  cancelTitle: 'Diesen Vorgang abbrechen?',
  cancelText: (done) => `${done} sind erledigt und bleiben es; der Rest bleibt, wie er ist.`,
  doneText: (done) => `Alle ${done} wurden erneut gesendet.`,
  cancelledText: (done, total) => `Abgebrochen nach ${done} von ${total}.`,
  failedTitle: 'Der Vorgang ist gescheitert',
  toDeliveries: 'Zustellungen zeigen',
  navigation: (kind, percent) => `${kind}: ${percent}`,
  pausedNavigation: (kind) => `${kind}: angehalten`,
}
