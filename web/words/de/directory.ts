import type { directoryWords as English } from '../en/directory.ts'
import { many } from '../plural.ts'
import type { Translated } from '../translated.ts'

export const directoryWords: Translated<typeof English> = {
  title: 'Verzeichnis',
  lead: 'Das Verzeichnis Ihres Anbieters fügt Menschen hier hinzu, ändert und deaktiviert sie (SCIM 2.0). Wen es deaktiviert, verliert sofort jede Sitzung.',
  base: 'Basisadresse',
  baseHint: 'Auch Tenant URL oder SCIM connector base URL genannt.',
  states: { off: 'Aus', waits: 'Wartet auf die erste Anfrage', on: 'Ein' },
  last: 'Letzte Anfrage',
  users: 'Benutzer',
  groups: 'Gruppen',
  inStep: {
    label: 'Im Gleichstand',
    bar: (inStep, different, notSent) =>
      `${many(inStep, 'Mitglied', 'Mitglieder')} wie im Verzeichnis, ${different} anders, ${notSent} nicht aus dem Verzeichnis`,
    inStep: (count) => `${count} wie im Verzeichnis`,
    different: (count) => `${count} anders`,
    notSent: (count) => `${count} nicht aus dem Verzeichnis`,
  },
  tokens: {
    title: 'Token',
    lead: (most) =>
      `Damit weist sich das Verzeichnis aus. Bis zu ${most} können aktiv sein, damit eines das andere ablösen kann.`,
    issue: 'Token ausstellen',
    issueTitle: 'SCIM-Token ausstellen',
    name: 'Name',
    nameHint: 'Welches Verzeichnis es benutzt, etwa Okta production.',
    shownTitle: 'Token jetzt kopieren',
    shownLead:
      'Nur jetzt kann Intercept es zeigen: Aufbewahrt wird nur ein Hashwert. Verloren? Stellen Sie ein anderes aus und widerrufen Sie dieses.',
    secretName: 'Token',
    emptyTitle: 'Noch keine Token',
    emptyText:
      'Stellen Sie eines aus und tragen Sie es zusammen mit der Basisadresse beim Anbieter ein.',
    columns: {
      name: 'Name',
      hint: 'Token',
      used: 'Zuletzt benutzt',
      created: 'Ausgestellt',
      state: 'Zustand',
    },
    active: 'Aktiv',
    issuerLeft: 'Aussteller weg',
    revoked: 'Widerrufen',
    revoke: 'Widerrufen',
    revokeTitle: (name) => `${name} widerrufen?`,
    revokeText:
      'Das Verzeichnis wird ab der nächsten Anfrage abgelehnt. Die Menschen hier bleiben, wie sie sind. Das lässt sich nicht rückgängig machen.',
    revokeDone: 'Token widerrufen',
    from: (address) => `von ${address}`,
  },
  guides: 'Bei Ihrem Anbieter',
  other: 'Anderes Verzeichnis',
  requests: {
    title: 'Letzte Anfragen',
    lead: 'Was das Verzeichnis fragte, was die Antwort war und warum abgelehnt wurde. Von widerrufenen Token wird eine Anfrage pro Minute aufbewahrt.',
    ofPerson: 'Letzte Anfragen zu dieser Person',
    show: 'Welche Anfragen',
    shown: { all: 'Alle', refused: 'Abgelehnte' },
    noneRefused: 'Nichts wurde abgelehnt',
    nonePerson: 'Keine der letzten tausend Anfragen betrifft diese Person',
    passedOver: (names) => `Übergangen: ${names.join(', ')}`,
    ignored: 'Übergangen',
    reason: 'Warum',
    address: 'Von',
    token: 'Token',
    body: 'Inhalt, ohne Geheimnisse',
    noBody: 'Sie kam ohne Inhalt.',
    emptyTitle: 'Noch ist nichts gekommen',
    emptyText:
      'Benutzen Sie den Verbindungstest Ihres Anbieters: Seine Anfrage erscheint hier in Sekunden.',
    columns: {
      time: 'Zeit',
      request: 'Anfrage',
      status: 'Antwort',
      took: 'Dauer',
      agent: 'Agent',
    },
  },
  notices: {
    silent: (hours) => `Seit ${many(hours, 'Stunde', 'Stunden')} ist nichts gekommen`,
    silentText:
      'Anbieter kommen stündlich oder öfter. Sehen Sie im Protokoll des Anbieters nach: ob er eingeschaltet ist, ob das Token das aktive ist und ob er die Basisadresse erreicht.',
    keptOwner: (name) => `Das Verzeichnis hat ${name} deaktiviert, den einzigen Inhaber`,
    keptOwnerText:
      'Sitzungen und persönliche Schlüssel sind beendet, aber der letzte Inhaber bleibt Mitglied: Sonst könnte niemand die Organisation verwalten. Machen Sie jemand anderen zum Inhaber und deaktivieren Sie dann diese Person:',
    duplicates: 'Kennungen, die mehrere Benutzer haben',
    duplicatesLead:
      'Eine Anmeldung mit einer davon findet niemanden. Geben Sie beim Anbieter jedem Benutzer eine eigene.',
    kinds: { external_id: 'ID beim Anbieter', address: 'Adresse' },
  },
  person: {
    title: 'Wie das Verzeichnis diese Person führt',
    lead: 'Jedes gespeicherte Attribut, so wie SCIM es beantwortet.',
    attributes: 'Gespeicherte Attribute',
    version: 'Version',
    created: 'Zuerst gesendet',
    changed: 'Geändert',
    history: 'Verlauf im Audit-Log',
  },
  providers: { jumpcloud: 'JumpCloud', onelogin: 'OneLogin', pingone: 'PingOne' },
  people: {
    usersTitle: 'Abgeglichene Benutzer',
    usersEmpty: 'Das Verzeichnis hat noch niemanden gesendet.',
    groupsTitle: 'Abgeglichene Gruppen',
    groupsEmpty: 'Das Verzeichnis hat noch keine Gruppen gesendet.',
    columns: {
      name: 'Name',
      userName: 'Benutzername',
      external: 'ID beim Anbieter',
      groups: 'Gruppen',
      state: 'Zustand',
      changed: 'Geändert',
      members: 'Mitglieder',
      role: 'Rolle',
    },
    active: 'Aktiv',
    inactive: 'Deaktiviert',
    noRole: 'keine',
  },
  roles: {
    lead: 'Eine Gruppe gibt ihren Mitgliedern hier eine Rolle; wer in mehreren ist, bekommt die höchste. Inhaber behalten ihre: Keine Gruppe gibt oder nimmt sie.',
    emptyTitle: 'Noch keine Gruppen',
    emptyText:
      'Gruppen erscheinen, sobald das Verzeichnis sie sendet. Bis dahin sind Mitglieder durch Single Sign-on Betrachter.',
    toDirectory: 'Zum Verzeichnis',
    choose: (group) => `Rolle von ${group}`,
    none: 'Keine eigene Rolle',
    previewTitle: (group) => `Rolle von ${group} ändern?`,
    preview: (people) =>
      people === 0
        ? 'Das ändert jetzt bei niemandem die Rolle.'
        : `Das ändert ${many(people, 'Person', 'Personen')}:`,
    change: (before, after) => `${before} → ${after}`,
    andMore: (count) => `und ${many(count, 'weitere Person', 'weitere Personen')}`,
    sessions: 'Wessen Rolle sich ändert, wird abgemeldet und meldet sich neu an.',
    action: 'Rolle ändern',
    done: (people) => `Rolle für ${many(people, 'Person', 'Personen')} geändert`,
    sign: 'Gruppen der Anmeldung',
    signLead:
      'Ohne Verzeichnis kommen Gruppen mit jeder Anmeldung in einem Claim. Nennen Sie sie so, wie der Anbieter sie sendet.',
    group: 'Gruppe',
    role: 'Rolle',
    add: 'Gruppe hinzufügen',
    remove: 'Entfernen',
    save: 'Speichern',
    saved: 'Gruppen gespeichert',
  },
}
