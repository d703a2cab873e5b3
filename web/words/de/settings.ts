import type { settingsWords as English } from '../en/settings.ts'
import type { Translated } from '../translated.ts'

export const settingsWords: Translated<typeof English> = {
  title: 'Einstellungen',
  lead: 'Name, Vorgaben, Grenzen und Aufbewahrung dieser Organisation.',
  general: 'Allgemein',
  name: 'Name',
  slug: 'Kurzname',
  slugHint: 'Teil von Adressen. Er ist nicht änderbar.',
  id: 'Organisations-ID',
  plan: 'Tarif',
  plans: { standard: 'Standard', enterprise: 'Enterprise' },
  planHint: 'vom Betreiber gesetzt: npx interceptd org set-plan',
  created: 'Angelegt',
  saved: 'Name geändert',
  keyDefaults: 'Vorgaben für neue Schlüssel',
  keyDefaultsLead:
    'Gelten für jeden Schlüssel, der ohne eigene Angaben ausgestellt wird, hier und auf der Kommandozeile. Bestehende Schlüssel ändern sich nicht.',
  scheme: 'Schema',
  ends: 'Endet nach (Tage)',
  endsHint: 'Leer heißt: kein Ende; der Dialog schlägt dann 90 Tage vor.',
  addresses: 'Erlaubte Adressen',
  addressesHint: 'CIDR-Bereiche, einer je Zeile. Leer heißt: jede Adresse.',
  keyDefaultsSaved: 'Vorgaben für neue Schlüssel geändert',
  rate: 'Rate aller Aufrufe',
  rateLead:
    'Was alle Schlüssel und Ziele zusammen haben, über alle Knoten. Ihre eigenen Raten gelten daneben. Leer heißt: kein Limit.',
  rateCalls: 'Aufrufe',
  rateSeconds: 'In Sekunden',
  rateSaved: 'Rate geändert',
  retention: 'Aufbewahrung',
  retentionLead:
    'Setzt der Betreiber für alle Organisationen (RETENTION_…). Was älter ist, wird gelöscht.',
  calls: 'Aufrufe',
  deliveries: 'Zustellungen',
  audit: 'Audit-Log',
  danger: 'Organisation löschen',
  dangerText:
    'Alle Schlüssel werden ab dem nächsten Aufruf abgelehnt, Zustellungen enden, Mitglieder verlieren den Zugang. Das lässt sich nicht rückgängig machen.',
  delete: 'Organisation löschen',
  deleteTitle: (name) => `${name} löschen?`,
  deleted: 'Organisation gelöscht',
}
