import type { overviewWords as English } from '../en/overview.ts'
import { many } from '../plural.ts'
import type { Translated } from '../translated.ts'

export const overviewWords: Translated<typeof English> = {
  title: 'Übersicht',
  whereCallsStop: 'Wo Aufrufe enden',
  whereLead:
    'Ablehnungen nach der Prüfung, die sie aussprach; Fremde ohne gültigen Schlüssel werden gezählt, nicht aufgezeichnet.',
  mostStop: (number, all, station) => `${number} von ${all} Ablehnungen enden bei ${station}.`,
  showThese: 'Diese Aufrufe zeigen',
  needsYou: 'Braucht Sie',
  upstreamStatus: (status) => `Upstream ${status}`,
  nothingNeeds: 'Nichts braucht Sie.',
  traffic: 'Aufrufe',
  kpis: {
    calls: 'Aufrufe',
    refused: 'Abgelehnt',
    errors: 'Upstream-Fehler',
    p95: 'Latenz p95',
  },
  groups: {
    key_expiring: (number) => `${many(number, 'Schlüssel läuft', 'Schlüssel laufen')} bald ab`,
    key_straggler: (number) =>
      `Alte Geheimnisse von ${many(number, 'Schlüssel', 'Schlüsseln')} werden noch benutzt`,
    endpoint_disabled: (number) =>
      many(number, 'Endpunkt ist abgeschaltet', 'Endpunkte sind abgeschaltet'),
    endpoint_held: (number) => many(number, 'Endpunkt ist angehalten', 'Endpunkte sind angehalten'),
    domain_lost: (number) =>
      many(number, 'Domain ist nicht mehr bestätigt', 'Domains sind nicht mehr bestätigt'),
    target_failing: (number) => many(number, 'Ziel ist gestört', 'Ziele sind gestört'),
    access_token_expiring: (number) =>
      many(number, 'Zugriffstoken endet bald', 'Zugriffstoken enden bald'),
    scim_token_issuer_left: (number) =>
      `Wer ${many(number, 'SCIM-Token', 'SCIM-Token')} ausgestellt hat, ist nicht mehr da`,
    other: (number) => many(number, 'weitere Sache', 'weitere Sachen'),
  },
  topKeys: 'Schlüssel mit den meisten Aufrufen',
  topTargets: 'Ziele mit den meisten Aufrufen',
  topErrors: 'Häufigste Fehler',
  noCalls: 'Keine Aufrufe in diesem Zeitraum.',
  countedBackTo: 'Zu viele Aufrufe, um alle anzusehen. Gezählt bis zurück zum',
  noErrors: 'Keine Ablehnungen und keine Upstream-Fehler in diesem Zeitraum.',
  unknownKey: 'unbekannt',
  removedTarget: 'gelöscht',
  showCalls: 'Aufrufe zeigen',
  firstSteps: 'Erste Schritte',
  stepsLead: (done, all) => `${done} von ${all} erledigt`,
  hide: 'Ausblenden',
  steps: {
    target: ['Ziel hinzufügen', 'Die API, die Sie schützen möchten.', 'Ziel hinzufügen'],
    key: [
      'Schlüssel ausstellen',
      'Damit ruft ein Programm Ihre Ziele auf.',
      'Schlüssel ausstellen',
    ],
    call: [
      'Ersten Aufruf machen',
      'Der Dialog des Schlüssels hat eine Zeile zum Einfügen.',
      'Aufrufe zeigen',
    ],
    endpoint: [
      'Webhook-Endpunkt hinzufügen',
      'Von Schlüsseln, Ablehnungen und Mitgliedern sofort erfahren.',
      'Endpunkt hinzufügen',
    ],
    invited: ['Jemanden einladen', 'Zwei Inhaber sind sicherer als einer.', 'Einladen'],
  },
  open: 'Öffnen',
}
