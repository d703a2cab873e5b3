import type { membersWords as English } from '../en/members.ts'
import { many } from '../plural.ts'
import type { Translated } from '../translated.ts'

export const membersWords: Translated<typeof English> = {
  agentOn: (browser, system) => `${browser} auf ${system}`,
  title: 'Mitglieder',
  lead: 'Die Menschen dieser Organisation und was sie dürfen.',
  what: 'Mitglieder',
  search: 'Name, E-Mail oder Mitglieds-ID',
  tabs: { members: 'Mitglieder', invitations: 'Einladungen', roles: 'Rollen' },
  invite: 'Einladen',
  role: 'Rolle',
  columns: {
    name: 'Name',
    email: 'E-Mail',
    role: 'Rolle',
    joined: 'Beigetreten',
    seen: 'Zuletzt gesehen',
    state: 'Zustand',
    expires: 'Gültig bis',
    invited: 'Eingeladen',
  },
  managed: 'Verzeichnis',
  deactivated: 'Deaktiviert',
  active: 'Aktiv',
  alone: 'Sie sind hier allein',
  aloneText: 'Laden Sie jemanden ein. Zwei Inhaber sind sicherer als einer.',
  inviteDialog: {
    title: 'Jemanden einladen',
    email: 'E-Mail',
    emailHint: 'Nötig ist eine Anmeldung, deren Anbieter diese Adresse bestätigt hat.',
    roleHints: {
      viewer: 'sieht Ziele, Schlüssel, Aufrufe und Zustellungen',
      developer: 'stellt dazu eigene Schlüssel aus und wiederholt Zustellungen',
      admin: 'verwaltet dazu Ziele, Webhooks, Mitglieder und SSO; sieht das Audit-Log',
      owner: 'entscheidet dazu über Inhaber und kann die Organisation löschen',
    },
  },
  noWayIn: 'Die Person könnte sich noch nicht anmelden',
  noWayInText:
    'Dieser Server hat keine Anmeldung über GitHub oder Google, und die Organisation ist mit keinem eigenen Anbieter verbunden. Verbinden Sie zuerst einen unter SSO und SCIM, oder lassen Sie den Betreiber eine Anmeldung einrichten; bis dahin kann niemand eine Einladung annehmen.',
  linkTitle: 'Geben Sie diesen Link weiter',
  linkLead: (mailed) =>
    mailed
      ? 'Er wurde auch per Mail gesendet. Gezeigt wird er nur jetzt.'
      : 'Er wurde nicht per Mail gesendet, senden Sie ihn also selbst. Gezeigt wird er nur jetzt.',
  linkName: 'Link',
  noInvitations: 'Keine Einladungen',
  noInvitationsText:
    'Eine Einladung ist ein Link für eine E-Mail-Adresse; wer sie annimmt, wird Mitglied mit der gewählten Rolle.',
  invitationStates: {
    open: 'Offen',
    accepted: 'Angenommen',
    revoked: 'Zurückgezogen',
    expired: 'Abgelaufen',
  },
  withdraw: 'Zurückziehen',
  withdrawn: 'Einladung zurückgezogen',
  invitations: 'Einladungen',
  rolesLead:
    'Was jede Rolle darf. Der letzte Inhaber kann weder entfernt noch herabgestuft werden.',
  may: 'Darf',
  permissions: [
    [
      'Ziele, Schlüssel (Kennungen), Aufrufe, Zustellungen sehen',
      ['owner', 'admin', 'developer', 'viewer'],
    ],
    [
      'Schlüssel ausstellen, rotieren, widerrufen; Zustellungen wiederholen',
      ['owner', 'admin', 'developer'],
    ],
    ['Ziele, Regeln, Webhook-Endpunkte und Geheimnis', ['owner', 'admin']],
    ['Mitglieder, Einladungen, deren Sitzungen, Audit-Log', ['owner', 'admin']],
    ['SSO, Domains, SCIM-Token, Rollen von Gruppen', ['owner', 'admin']],
    ['Rollen von Inhabern, Organisation löschen', ['owner']],
  ],
  developerKeys: 'eigene Schlüssel',
  yes: 'ja',
  no: 'nein',

  member: {
    back: 'Mitglieder',
    facts: 'Angaben',
    id: 'Mitglieds-ID',
    source: 'Kam durch',
    sources: {
      invitation: 'Einladung',
      directory: 'Verzeichnis',
      sso: 'Firmenanmeldung',
      setup: 'Einrichtung',
      operator: 'Kommandozeile',
      created: 'hat die Organisation angelegt',
    },
    role: 'Rolle',
    roleHint:
      'Eine neue Rolle beendet die Sitzungen der Person: Sie meldet sich neu an und hat sie dann.',
    ownersOnly: 'Die Rolle eines Inhabers ändert nur ein Inhaber.',
    ownRole: 'Das sind Sie.',
    saveRole: 'Rolle ändern',
    roleChanged: 'Rolle geändert',
    sessions: 'Sitzungen',
    sessionsLead: 'Wo diese Person angemeldet ist.',
    noSessions: 'Nirgends angemeldet.',
    endAll: 'Alle Sitzungen beenden',
    keys: 'Schlüssel dieser Person zeigen',
    deactivate: 'Deaktivieren',
    reactivate: 'Reaktivieren',
    remove: 'Mitglied entfernen',
    deactivateTitle: (name) => `${name} deaktivieren?`,
    deactivateText:
      'Alle Sitzungen enden; persönliche Schlüssel und Zugriffstoken werden ausgesetzt, sofort und auf jedem Knoten. Reaktivieren stellt genau das wieder her.',
    removeTitle: (name) => `${name} entfernen?`,
    removeText:
      'Alle Sitzungen enden; persönliche Schlüssel und die ausgestellten Zugriffstoken werden endgültig widerrufen. Andere ausgestellte Schlüssel bleiben bei der Organisation.',
    deactivated: 'Mitglied deaktiviert',
    reactivated: 'Mitglied reaktiviert',
    removed: (sessions, keys) =>
      `${many(sessions, 'Sitzung', 'Sitzungen')} beendet, ${many(keys, 'persönlicher Schlüssel', 'persönliche Schlüssel')} widerrufen`,
    removedTitle: 'Mitglied entfernt',
    directoryNote:
      'Das Verzeichnis hält diese Person aktuell: Name, E-Mail und Deaktivierung kommen von dort. Eine hier vergebene Rolle gilt, bis eine Gruppe mit Rolle die Person aufnimmt oder abgibt.',
    history: 'Im Audit-Log zeigen',
  },
  session: {
    thisDevice: 'Dieses Gerät',
    end: 'Sitzung beenden',
    ended: (sessions) => `${many(sessions, 'Sitzung', 'Sitzungen')} beendet`,
    proof: (nodes, ms) =>
      nodes === 1
        ? `Überall abgelehnt nach ${ms}.`
        : `Von allen ${nodes} Knoten abgelehnt nach ${ms}.`,
    from: (address) => `von ${address}`,
    unknownAddress: 'unbekannter Adresse',
    by: (provider) => `angemeldet über ${provider}`,
    providers: {
      github: 'GitHub',
      google: 'Google',
      sso: 'Firmenanmeldung',
      setup: 'den Einrichtungslink',
      sign_in_link: 'einen Anmeldelink',
    },
    seen: 'zuletzt gesehen',
    until: 'bis',
    unknownAgent: 'Unbekanntes Programm',
  },
  you: {
    title: 'Sie',
    lead: 'Ihr Name, Ihre Anmeldewege und Sitzungen.',
    profile: 'Profil',
    name: 'Name',
    email: 'E-Mail',
    emailHint: 'Kommt von Ihrem Anmeldeanbieter.',
    saved: 'Name geändert',
    identities: 'Anmeldewege',
    identitiesLead:
      'Konten bei Anbietern, die hierher führen. Zugeordnet nach der ID beim Anbieter, nie nach E-Mail.',
    noIdentities:
      'Noch keiner: Sie kamen mit einem Link. Fügen Sie einen hinzu, bevor diese Sitzung endet.',
    add: (provider) => `${provider} hinzufügen`,
    signInAgain: 'Erneut anmelden',
    linkTitle: 'Diesen Anmeldeweg hinzufügen?',
    linkLead: 'Ab jetzt öffnet dieses Konto beim Anbieter Ihr Konto hier.',
    linkProvider: 'Anbieter',
    linkName: 'Name',
    linkSubject: 'ID beim Anbieter',
    linkAction: 'Hinzufügen',
    linked: 'Anmeldeweg hinzugefügt',
    removeIdentity: 'Entfernen',
    removeIdentityTitle: 'Diesen Anmeldeweg entfernen?',
    removeIdentityText:
      'Alle Ihre Sitzungen enden, auch diese. Melden Sie sich auf anderem Weg wieder an.',
    sessions: 'Sitzungen',
    endOthers: 'Andere Sitzungen beenden',
    theme: 'Farbschema',
    appearance: 'Aussehen und Tastatur',
  },
}
